import { setImmediate } from 'node:timers/promises';
import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { createFeedApi, type Turns } from './feed-api.ts';
import { createJsonApi } from './json-api.ts';
import { createMetrics } from './metrics.ts';
import { createPages } from './page/pages.ts';
import { type Handler, jsonResponse, type Request, type Response, textResponse } from './server.ts';
import type { Monitor } from './worker-state.ts';

const METHODS = ['GET', 'HEAD'];

/** Everything that the status server serves; all of it is read-only. `handle` never rejects. */
export function createApp(monitor: Monitor, log: Log, stop: AbortSignal) {
  const metrics = createMetrics(monitor);
  const turns = createTurns();
  const feed = createFeedApi(monitor, turns, stop);
  const { pages, notFound } = createPages(monitor);
  const queued = Object.entries({ ...createJsonApi(monitor), ...pages });
  const respondNotFound = turns.enqueue(notFound);
  const routes = new Map(queued.map(([path, handler]) => [path, turns.enqueue(handler)]));
  routes.set('/changes.json', feed.handle);
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
    return (routes.get(request.path) ?? respondNotFound)(request);
  };
  const handle = async (request: Request): Promise<Response> => {
    const { headers, status, body } = await respond(request).catch((error: unknown) => {
      log.warn({ err: toRunError(error), path: request.path.slice(0, 100) }, 'a request for the status page failed');
      return textResponse('Internal error; the log says more.\n', 500);
    });
    return { status, body, headers: { ...HEADERS, ...headers } };
  };
  return { handle, listeners: [metrics.onEvent, feed.onEvent] };
}

/** The maximum number of unfinished requests for pages, assets and JSON. A browser sends fewer at once. */
const MAX_QUEUED = 8;
const TOO_MANY = 'Too many requests at once; try again.';
const AGAIN = { 'Retry-After': '1' };

/** Does one thing at a time, each in its own turn, so that polls, probes and signals wait for one page at most. */
export function createTurns(): Turns {
  let queued = 0;
  let last: Promise<unknown> = Promise.resolve();
  const take: Turns['take'] = (work) => {
    const done = last.then(() => setImmediate()).then(work);
    last = done.catch(() => undefined);
    return done;
  };
  const enqueue: Turns['enqueue'] = (handler) => (request) => {
    if (queued >= MAX_QUEUED)
      return request.path.endsWith('.json')
        ? jsonResponse({ error: TOO_MANY }, 503, AGAIN)
        : textResponse(`${TOO_MANY}\n`, 503, AGAIN);
    queued += 1;
    return take(() => handler(request)).finally(() => {
      queued -= 1;
    });
  };
  return { take, enqueue };
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
