import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { MiddlewareHandler } from 'hono';

/** More than a person's browser ever asks for at once. */
const MOST_WAITING = 8;

/**
 * Draws one page at a time, and lets the process do whatever else there is to do between two: polls, probes, signals. A
 * page takes up to a tenth of a second where there are very many leagues.
 */
export function createTurns(): MiddlewareHandler {
  let waiting = 0;
  let last = Promise.resolve();
  return async (c, next) => {
    if (waiting >= MOST_WAITING)
      return c.text('Too many ask for this at once; try again.\n', 503, { 'Retry-After': '1' });
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    waiting += 1;
    try {
      await before;
      await turnOfLoop();
      // Whoever has gone needs no answer.
      if (c.req.raw.signal.aborted) return c.body(null, 503);
      await next();
      return undefined;
    } finally {
      waiting -= 1;
      resolve();
    }
  };
}
