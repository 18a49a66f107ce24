import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { type Reply, type Respond, replyText } from './reply.ts';

/** More than a person's browser ever asks for at once. */
const MOST_WAITING = 8;

/** Has what answers wait for its turn. */
export type Turns = (respond: Respond) => Respond;

/**
 * Draws one page at a time, and lets the process do whatever else there is to do between two: polls, probes, signals. A
 * page takes up to a tenth of a second where there are very many leagues.
 */
export function createTurns(): Turns {
  let waiting = 0;
  let last = Promise.resolve();
  return (respond) => async (question) => {
    if (waiting >= MOST_WAITING) return crowded();
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    waiting += 1;
    try {
      await before;
      await turnOfLoop();
      // Whoever has gone needs no answer.
      if (question.isGone()) return replyText('', 503);
      return await respond(question);
    } finally {
      waiting -= 1;
      resolve();
    }
  };
}

function crowded(): Reply {
  return replyText('Too many ask for this at once; try again.\n', 503, { 'Retry-After': '1' });
}
