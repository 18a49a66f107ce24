import type { Clock } from '../clock.ts';
import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Listener } from '../sync/events.ts';
import { createMetrics } from './metrics.ts';
import type { Monitor } from './monitor.ts';
import { createPages } from './page/pages.ts';
import { type Answering, type Reply, type Respond, type Routes, replyJson, replyText } from './reply.ts';
import { describeStatus } from './status.ts';
import { createTurns } from './turn.ts';

export type AppOptions = { readonly monitor: Monitor; readonly clock: Clock; readonly log: Log };

/** Everything that is served, and what counts the events for it. */
export type App = { readonly answer: Answering; readonly note: Listener };

const READING = ['GET', 'HEAD'];

/** What is served: it is only read, and nothing that is asked for changes anything. Never rejects. */
export function createApp({ monitor, clock, log }: AppOptions): App {
  const metrics = createMetrics(monitor);
  const turns = createTurns();
  const routes = new Map<string, Respond>(
    Object.entries({
      '/livez': () => replyJson({ live: true }),
      '/readyz': () => {
        const { ready, reasons } = monitor.verdict();
        return replyJson({ ready, reasons }, ready ? 200 : 503);
      },
      '/metrics': async () => ({
        status: 200,
        headers: { 'Content-Type': metrics.contentType },
        body: await metrics.render(),
      }),
      '/status.json': turns(() => replyJson(describeStatus(monitor, clock))),
      ...createPages(monitor, { clock, turns }),
      '': refuseAddress,
    } satisfies Routes),
  );
  const answer: Answering = async (question) => {
    const respond = READING.includes(question.method) ? (routes.get(question.path) ?? replyNothing) : refuseWriting;
    try {
      return secure(await respond(question));
    } catch (error) {
      log.warn({ err: toRunError(error), path: question.path.slice(0, 100) }, 'a request for the status page failed');
      return secure(replyText('This could not be answered; the log says why.\n', 500));
    }
  };
  return { answer, note: metrics.note };
}

/** Nothing but what comes from here, no frames, no cache unless it is asked for. */
const HEADERS: Reply['headers'] = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Frame-Options': 'DENY',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
};

function secure(reply: Reply): Reply {
  return { ...reply, headers: { ...HEADERS, ...reply.headers } };
}

function refuseWriting(): Reply {
  return replyText('This is only to be read: GET or HEAD.\n', 405, { Allow: READING.join(', ') });
}

function refuseAddress(): Reply {
  return replyText('This is no address.\n', 400);
}

function replyNothing(): Reply {
  return replyText('There is nothing here. Try /, /changes, /livez, /readyz, /metrics or /status.json.\n', 404);
}
