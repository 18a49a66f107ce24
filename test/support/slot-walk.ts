import { expect } from 'vitest';
import { leagueRequests, setUp } from './bench.ts';
import { makeFakeClock, offsetTo, runUnder } from './fake-clock.ts';

/** A schedule in its zone, and the slots (UTC) that it names from one moment on. */
export type Walk = {
  readonly timezone: string;
  readonly expression: string;
  readonly from: string;
  readonly slots: readonly string[];
};

/** How long before a slot the clock is set: enough for the worker to look at it in between. */
const BEFORE_MS = 1_500;
/** A poll that comes later than this belongs to no slot of the walk. */
const LATEST_MS = 60_000;

/**
 * Runs a worker whose clock is set from right before one slot to right before the next: each has to have its poll, at
 * its time and once. A slot too many would be polled for at once, ahead of the time of the one that is waited for.
 */
export async function walkSlots({ timezone, expression, from, slots }: Walk): Promise<void> {
  const bench = await setUp();
  const clock = makeFakeClock(bench.folder, offsetTo(Date.parse(from)));
  const worker = runUnder(clock, bench, { LEAGUE_SYNC_SCHEDULE: expression, LEAGUE_SYNC_TIMEZONE: timezone });
  await worker.waitForPoll('changed');
  for (const slot of slots) {
    clock.set(offsetTo(Date.parse(slot) - BEFORE_MS));
    await worker.waitForPoll('unchanged');
  }
  expect((await worker.stop()).code).toBe(0);

  const runs = bench.rows("SELECT started_at FROM runs WHERE trigger <> 'start' ORDER BY id");
  const lateMs = runs.map(({ started_at }, index) => Date.parse(String(started_at)) - Date.parse(slots[index] ?? ''));
  const said = `${timezone} "${expression}": ${runs.map(({ started_at }) => started_at).join(' ')}`;
  expect(runs, said).toHaveLength(slots.length);
  expect(Math.min(...lateMs), said).toBeGreaterThanOrEqual(0);
  expect(Math.max(...lateMs), said).toBeLessThan(LATEST_MS);
  expect(leagueRequests(bench.simulator)).toHaveLength(1 + slots.length);
}
