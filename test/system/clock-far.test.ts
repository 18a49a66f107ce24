import { beforeEach, describe, expect, it } from 'vitest';
import { countLogins, EVERY_SECOND, leagueRequests, setUp } from '../support/bench.ts';
import { makeFakeClock, missingFaketime, runUnder } from './libfaketime.ts';

beforeEach(({ skip }) => {
  const why = missingFaketime();
  skip(why !== undefined, why);
});

const POLLS_AFTER_A_STEP = 3;

describe('a clock that is far off', () => {
  it.each([
    ['goes a year ahead and is set right', ['+0', '+365d', '+0']],
    ['stands in 1970 and is set right', ['@1970-01-01 00:01:00', '+0']],
  ] as const)('and %s leaves polls, logins and the order of instants as they should be', async (_what, offsets) => {
    const bench = await setUp();
    const [first, ...steps] = offsets;
    const clock = makeFakeClock(bench.folder, first);
    const worker = runUnder(clock, bench, { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
    const startedAt = performance.now();
    await worker.waitForPoll('changed');
    for (const next of steps) {
      clock.set(next);
      for (let polls = 0; polls < POLLS_AFTER_A_STEP; polls += 1) await worker.waitForPoll('unchanged');
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    expect((await worker.stop()).code).toBe(0);

    // One at start, one per scheduled time, and one catch-up run after a step ahead.
    expect(leagueRequests(bench.simulator).length).toBeLessThanOrEqual(seconds + 1 + steps.length);
    expect(countLogins(bench.simulator)).toBeLessThanOrEqual(1 + steps.length);
    expect(bench.rows("SELECT id FROM runs WHERE outcome NOT IN ('changed', 'unchanged', 'interrupted')")).toEqual([]);
    const ends = bench.rows('SELECT finished_at AS at FROM runs ORDER BY id').map(({ at }) => String(at));
    expect(ends).toEqual([...new Set(ends)].sort());
    const [freshness] = bench.rows('SELECT age_seconds FROM freshness');
    expect(Number(freshness?.age_seconds)).toBeLessThan(60);
  });

  it('at a start deletes no runs, and says so', async () => {
    const bench = await setUp();
    for (let run = 0; run < 3; run += 1) await bench.run(['sync']);
    const before = bench.rows('SELECT id FROM runs');
    const worker = runUnder(makeFakeClock(bench.folder, '+365d'), bench);
    await worker.waitForLog(({ msg }) =>
      /^no runs are deleted today, because even the newest is old/.test(String(msg)),
    );
    await worker.waitForPoll('unchanged');
    expect((await worker.stop()).code).toBe(0);
    expect(bench.rows('SELECT id FROM runs').slice(0, before.length)).toEqual(before);
  });
});
