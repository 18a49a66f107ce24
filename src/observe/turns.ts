import { setImmediate } from 'node:timers/promises';
import { type Handler, jsonResponse, textResponse } from './server.ts';

/** The maximum number of unfinished requests for pages, assets and JSON. A browser sends fewer at once. */
const MAX_QUEUED = 8;
const TOO_MANY = 'Too many requests at once; try again.';
const AGAIN = { 'Retry-After': '1' };

export type Turns = ReturnType<typeof createTurns>;

/** Does one thing at a time, each in its own turn, so that polls, probes and signals wait for one page at most. */
export function createTurns() {
  let queued = 0;
  let last: Promise<unknown> = Promise.resolve();
  const take = <T>(work: () => T | Promise<T>): Promise<T> => {
    const done = last.then(() => setImmediate()).then(work);
    last = done.catch(() => undefined);
    return done;
  };
  /** Requests that take a turn each, but not too many at once. */
  const enqueue =
    (handler: Handler): Handler =>
    (request) => {
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
