import { setImmediate } from 'node:timers/promises';
import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { createJsonApi } from './json-api.ts';
import { createMetrics } from './metrics.ts';
import { createPages } from './page/pages.ts';
import { type Handler, jsonResponse, type Request, type Response, textResponse } from './server.ts';
import { createWaitingReaders } from './waiting-readers.ts';
import type { Monitor } from './worker-state.ts';

const METHODS = ['GET', 'HEAD'];

/** Everything that the status server serves; all of it is read-only. `handle` never rejects. */
export function createApp(monitor: Monitor, log: Log, stop: AbortSignal) {
  const metrics = createMetrics(monitor);
  const readers = createWaitingReaders(stop);
  const enqueue = createRequestQueue();
  const { pages, notFound } = createPages(monitor);
  const queued = new Map(Object.entries({ ...createJsonApi(monitor), ...pages }));
  const answer: Handler = (request) => (queued.get(request.path) ?? notFound)(request);
  const respondInTurn = enqueue(answer);
  /** Of readers that wait, by their query: a change wakes them all, and those that ask the same share an answer. */
  const shared = new Map<string, ReturnType<Handler>>();
  const respondTogether = (request: Request): ReturnType<Handler> => {
    const query = request.query.toString();
    const answerNow: Handler = () => {
      // Who asks from now on may know of a later change.
      shared.delete(query);
      return answer(request);
    };
    const response = shared.get(query) ?? enqueue(answerNow)(request, true);
    shared.set(query, response);
    return response;
  };
  /** Makes a response that has nothing new anew, until it has, or its time is over. */
  const respondWhenNew = async (request: Request): Promise<Response> => {
    using place = readers.enter();
    if (place === undefined)
      return jsonResponse({ error: 'too many readers wait: ask again without wait' }, 503, { 'Retry-After': '1' });
    let response = await respondTogether(request);
    const until = performance.now() + (response.waitMs ?? 0);
    request.hold(response.waitMs ?? 0);
    while (response.waitMs !== undefined && performance.now() < until) {
      if (!(await readers.wait(until - performance.now(), request.gone))) break;
      response = await respondTogether(request);
    }
    return response;
  };
  /** Answered at once, and under any host. */
  const immediate = new Map(
    Object.entries<Handler>({
      '': () => textResponse('Bad request.\n', 400),
      '/livez': () => jsonResponse({ live: true }),
      '/readyz': () => {
        const { ready, reasons } = monitor.state().verdict;
        return jsonResponse({ ready, reasons }, ready ? 200 : 503);
      },
      '/metrics': async () => {
        const body = await metrics.render();
        return { status: 200, headers: { 'Content-Type': metrics.contentType }, body };
      },
    }),
  );
  const respond = async (request: Request): Promise<Response> => {
    if (!METHODS.includes(request.method))
      return textResponse('Method not allowed: use GET or HEAD.\n', 405, { Allow: METHODS.join(', ') });
    const handler = immediate.get(request.path);
    if (handler !== undefined) return handler(request);
    if (!request.isHostAllowed)
      return textResponse('Unknown host: use localhost, or add it to LEAGUE_SYNC_ALLOWED_HOSTS.\n', 421);
    return request.path === '/changes.json' && request.query.has('wait')
      ? respondWhenNew(request)
      : respondInTurn(request);
  };
  const handle = async (request: Request): Promise<Response> => {
    const { headers, status, body } = await respond(request).catch((error: unknown) => {
      log.warn({ err: toRunError(error), path: request.path.slice(0, 100) }, 'a request for the status page failed');
      return textResponse('Internal error; the log says more.\n', 500);
    });
    return { status, body, headers: { ...HEADERS, ...headers } };
  };
  return { handle, listeners: [metrics.onEvent, readers.onEvent] };
}

/** The maximum number of unfinished requests for pages, assets and JSON. A browser sends fewer at once. */
const MAX_QUEUED = 8;
const TOO_MANY = 'Too many requests at once; try again.';
const AGAIN = { 'Retry-After': '1' };

/** Renders one page at a time, each in its own turn, so that polls, probes and signals wait for one page at most. */
export function createRequestQueue() {
  let queued = 0;
  let last: Promise<unknown> = Promise.resolve();
  /** `isAdmitted`: by another limit. */
  return (handler: Handler) =>
    (request: Request, isAdmitted = false): Response | Promise<Response> => {
      if (queued >= MAX_QUEUED && !isAdmitted)
        return request.path.endsWith('.json')
          ? jsonResponse({ error: TOO_MANY }, 503, AGAIN)
          : textResponse(`${TOO_MANY}\n`, 503, AGAIN);
      if (!isAdmitted) queued += 1;
      const response = last
        .then(() => setImmediate())
        .then(() => handler(request))
        .finally(() => {
          if (!isAdmitted) queued -= 1;
        });
      last = response.catch(() => undefined);
      return response;
    };
}

const HEADERS: Response['headers'] = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};
