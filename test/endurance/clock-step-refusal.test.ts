import { beforeEach, expect, it } from 'vitest';
import { type Bench, EVERY_SECOND, setUp } from '../support/bench.ts';
import { makeFakeClock, missingFaketime, runUnder, TWO_HOURS_MS } from '../support/libfaketime.ts';

const WAIT_MS = 60_000;
/** Timestamps in the log may be this old when they are checked. */
const LATE_MS = 10_000;
const OFFSETS = [
  ['+2h', TWO_HOURS_MS],
  ['-2h', -TWO_HOURS_MS],
  ['+0', 0],
] as const;

beforeEach(({ skip }) => {
  const why = missingFaketime();
  skip(why !== undefined, why);
});

it('refused credentials are not tried again before the minute is over, however the clock is set meanwhile', async () => {
  const bench = await setUp();
  const clock = makeFakeClock(bench.folder, '+0');
  const worker = runUnder(clock, bench, { LEAGUE_SYNC_PASSWORD: 'wrong-password', LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  await worker.waitForPoll('failed');
  for (const [offset, offMs] of OFFSETS) {
    clock.set(offset);
    // A run in progress may have begun before the step; later ones use the new clock.
    for (let polls = 0; polls < 3; polls += 1) await worker.waitForPoll('failed');
    const leftMs = nextTry(bench) - (Date.now() + offMs);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(WAIT_MS + LATE_MS);
  }
  expect((await worker.stop()).code).toBe(0);
  expect(bench.simulator.requests).toHaveLength(1);
});

/** The time of the next try by the message of the last failed run, in ms. */
function nextTry({ rows }: Bench): number {
  const [run] = rows("SELECT error_message FROM runs WHERE outcome = 'failed' ORDER BY id DESC LIMIT 1");
  const message = String(run?.error_message);
  return Date.parse(/The next try is at (\S+);/.exec(message)?.[1] ?? message);
}
