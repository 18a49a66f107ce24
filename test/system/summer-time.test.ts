import { beforeEach, describe, expect, it } from 'vitest';
import { leagueRequests, setUp } from '../support/bench.ts';
import { makeFakeClock, missingFaketime, offsetTo, runUnder } from './libfaketime.ts';

beforeEach(({ skip }) => {
  const why = missingFaketime();
  skip(why !== undefined, why);
});

/** A schedule in its time zone, and its scheduled times (UTC) from a given time on. */
type Walk = {
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
async function walkSchedule({ timezone, expression, from, times }: Walk): Promise<void> {
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

describe('a worker in a zone with DST polls once at each scheduled time', () => {
  it('when it begins: before, in and after the skipped hour', async () => {
    await walkSchedule({
      timezone: 'Europe/Berlin',
      expression: '30 1-3 * * *',
      from: '2026-03-29T00:00:00Z',
      times: ['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z'],
    });
  });

  it('when it ends: in both repeated hours', async () => {
    await walkSchedule({
      timezone: 'Europe/Berlin',
      expression: '30 * * * *',
      from: '2026-10-25T00:10:00Z',
      times: ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00Z'],
    });
  });
});
