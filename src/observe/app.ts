import { type Context, Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Clock } from '../clock.ts';
import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { createMetrics } from './metrics.ts';
import type { Monitor } from './monitor.ts';
import { createPages } from './page/pages.ts';
import { describeStatus } from './status.ts';
import { createTurns } from './turn.ts';

export type AppOptions = { readonly monitor: Monitor; readonly clock: Clock; readonly log: Log };

const READING = ['GET', 'HEAD'];

/** What is served: it is only read, and nothing that is asked for changes anything. */
export function createApp({ monitor, clock, log }: AppOptions): Hono {
  const app = new Hono();
  const metrics = createMetrics(monitor);
  const turns = createTurns();
  app.use(secureHeaders(HEADERS), refuseWriting);
  app.get('/livez', (c) => c.json({ live: true }));
  app.get('/readyz', (c) => {
    const readiness = monitor.readiness();
    return c.json(readiness, readiness.ready ? 200 : 503);
  });
  app.get('/metrics', async (c) => c.body(await metrics.render(), 200, { 'Content-Type': metrics.contentType }));
  app.get('/status.json', turns, (c) => c.json(describeStatus(monitor, clock)));
  app.route('/', createPages(monitor, { clock, turns }));
  app.notFound((c) =>
    c.text('There is nothing here. Try /, /changes, /livez, /readyz, /metrics or /status.json.\n', 404),
  );
  app.onError((error, c) => {
    log.warn({ err: toRunError(error), path: c.req.path.slice(0, 100) }, 'a request for the status page failed');
    return c.text('This could not be answered; the log says why.\n', 500);
  });
  return app;
}

/** Nothing but what comes from here, no frames, no cache. */
const HEADERS: Parameters<typeof secureHeaders>[0] = {
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: 'DENY',
  referrerPolicy: 'no-referrer',
  strictTransportSecurity: false,
};

async function refuseWriting(c: Context, next: () => Promise<void>): Promise<Response | undefined> {
  if (!READING.includes(c.req.method)) {
    return c.text('This is only to be read: GET or HEAD.\n', 405, { Allow: READING.join(', ') });
  }
  await next();
  if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
  return undefined;
}
