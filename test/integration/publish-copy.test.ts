import { utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createCopyOutput } from '../../src/outputs/publish-copy.ts';
import { formatTimestamp } from '../../src/time/clock.ts';
import { createTestClock } from '../support/clock.ts';
import { HOUR, MINUTE } from '../support/durations.ts';
import { makeFolder } from '../support/folder.ts';
import { ended, makeReport } from '../support/run-report.ts';

/** In how long the copy is due, if it, its row and the data are of so long ago (ms); undefined if there is none. */
function dueIn(madeMs: number | undefined, doneMs: number | undefined, changedMs: number | undefined): unknown {
  using folder = makeFolder();
  const clock = createTestClock();
  const at = (ms: number | undefined) => (ms === undefined ? undefined : formatTimestamp(clock.now() - ms));
  const target = folder.file('copy.db');
  if (madeMs !== undefined) {
    folder.write('copy.db', '');
    const made = new Date(clock.now() - madeMs);
    utimesSync(target, made, made);
  }
  const copy = async () => undefined;
  const output = createCopyOutput({ path: 'leagues.db', target, changedAt: () => at(changedMs), copy, clock });
  return output.dueInMs?.(at(doneMs) ?? null);
}

describe('the published copy is due', () => {
  it.each([
    ['an hour after it was made', 10 * MINUTE, 9 * MINUTE, 20 * MINUTE, 50 * MINUTE],
    ['an hour after it was made, though nothing has changed yet', 10 * MINUTE, 9 * MINUTE, undefined, 50 * MINUTE],
    ['at once if it is older', HOUR + MINUTE, HOUR, 2 * HOUR, 0],
    ['at once if it is missing', undefined, 9 * MINUTE, 20 * MINUTE, 0],
    ['at once if the data has changed since', 10 * MINUTE, 9 * MINUTE, 5 * MINUTE, 0],
    ['at once if the database was restored from before it', 10 * MINUTE, HOUR, 2 * HOUR, 0],
    ['at once if no copy is known to the database', 10 * MINUTE, undefined, 20 * MINUTE, 0],
    ['at once if it is from the future', -MINUTE, -2 * MINUTE, 20 * MINUTE, 0],
  ])('%s', (_, made, done, changed, due) => expect(dueIn(made, done, changed)).toBe(due));

  it.each([
    [true, true],
    [false, false],
  ])('after a poll that wrote something: %s', (wrote, isDue) => {
    const options = { path: '', target: '', changedAt: () => undefined, copy: async () => undefined };
    const output = createCopyOutput({ ...options, clock: createTestClock() });
    expect(output.isWokenBy(ended(makeReport({ outcome: 'unchanged', wrote })), false)).toBe(isDue);
  });
});
