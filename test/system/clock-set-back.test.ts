import { beforeEach, expect, it } from 'vitest';
import { leagueRequests, setUp } from '../support/bench.ts';
import { makeFakeClock, missingFaketime, offsetTo, runUnder } from './libfaketime.ts';

const EVERY_5_MINUTES = { LEAGUE_SYNC_SCHEDULE: '*/5 * * * *' };
/** How long before a scheduled time the clock is set: enough for the scheduler to tick in between. */
const BEFORE_MS = 1_500;
/** A poll that comes later than this belongs to another scheduled time. */
const LATEST_MS = 60_000;

beforeEach(({ skip }) => {
  const why = missingFaketime();
  skip(why !== undefined, why);
});

// What a step does to token, runs and timestamps is in test/integration/worker.test.ts; here, Node's own timers run.
it('a clock that is set back by an hour, and right again, polls at the next scheduled time after each step, and makes up once for skipped runs', async () => {
  const bench = await setUp();
  const clock = makeFakeClock(bench.folder, offsetTo(Date.parse('2026-11-20T12:04:00.000Z')));
  const worker = runUnder(clock, bench, EVERY_5_MINUTES);
  await worker.waitForPoll('changed');
  const steps = [
    // An hour before the next scheduled time, and right again: skips twelve scheduled times.
    { scheduled: '2026-11-20T11:05:00.000Z', from: -BEFORE_MS },
    { scheduled: '2026-11-20T12:05:00.000Z', from: 60_000, trigger: 'catch-up' },
    { scheduled: '2026-11-20T12:10:00.000Z', from: -BEFORE_MS },
  ];
  for (const { scheduled, from } of steps) {
    clock.set(offsetTo(Date.parse(scheduled) + from));
    await worker.waitForPoll('unchanged');
  }
  expect((await worker.stop()).code).toBe(0);

  const [, ...runs] = bench.rows('SELECT trigger, started_at FROM runs ORDER BY id');
  expect(runs).toHaveLength(steps.length);
  for (const [index, { scheduled, from, trigger }] of steps.entries()) {
    const afterMs = Date.parse(String(runs[index]?.started_at)) - Date.parse(scheduled) - Math.max(0, from);
    expect(afterMs, scheduled).toBeGreaterThanOrEqual(0);
    expect(afterMs, scheduled).toBeLessThan(LATEST_MS);
    if (trigger !== undefined) expect(runs[index]?.trigger).toBe(trigger);
  }
  expect(leagueRequests(bench.simulator)).toHaveLength(1 + steps.length);
});
