import { expect } from 'vitest';
import { leagueRequests, setUp } from './bench.ts';
import { makeFakeClock, offsetTo, runUnder } from './libfaketime.ts';

/** A schedule in its time zone, and its scheduled times (UTC) from a given time on. */
export type Walk = {
  readonly timezone: string;
  readonly expression: string;
  readonly from: string;
  readonly times: readonly string[];
};

/** How long before a scheduled time the clock is set: enough for the scheduler to tick in between. */
const BEFORE_MS = 1_500;
/** A poll later than this does not belong to any of the scheduled times. */
const LATEST_MS = 60_000;

/**
 * Runs a worker whose clock is set from just before one scheduled time to just before the next. Each must be polled at
 * its time and once. A superfluous scheduled time would be polled at once, ahead of the expected one.
 */
export async function walkSchedule({ timezone, expression, from, times }: Walk): Promise<void> {
  const bench = await setUp();
  const clock = makeFakeClock(bench.folder, offsetTo(Date.parse(from)));
  const worker = runUnder(clock, bench, { LEAGUE_SYNC_SCHEDULE: expression, LEAGUE_SYNC_TIMEZONE: timezone });
  await worker.waitForPoll('changed');
  for (const time of times) {
    clock.set(offsetTo(Date.parse(time) - BEFORE_MS));
    await worker.waitForPoll('unchanged');
  }
  expect((await worker.stop()).code).toBe(0);

  const runs = bench.rows("SELECT started_at FROM runs WHERE trigger <> 'start' ORDER BY id");
  const lateMs = runs.map(({ started_at }, index) => Date.parse(String(started_at)) - Date.parse(times[index] ?? ''));
  const said = `${timezone} "${expression}": ${runs.map(({ started_at }) => started_at).join(' ')}`;
  expect(runs, said).toHaveLength(times.length);
  expect(Math.min(...lateMs), said).toBeGreaterThanOrEqual(0);
  expect(Math.max(...lateMs), said).toBeLessThan(LATEST_MS);
  expect(leagueRequests(bench.simulator)).toHaveLength(1 + times.length);
}
