import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EVERY_SECOND, leagueRequests, setUp } from '../support/bench.ts';

const BLOCKER = join(import.meta.dirname, '../support/block-loop.cjs');
/** Several scheduled times, and longer than the scheduler's tolerance. */
const BLOCKED_MS = 4_500;
const SLOT_MS = 1_000;
const POLLS_AFTER = 2;

it('a worker whose loop was blocked makes up once for the runs that it missed, and returns to the schedule', async () => {
  const bench = await setUp();
  const worker = bench.start(['run'], {
    LEAGUE_SYNC_SCHEDULE: EVERY_SECOND,
    NODE_OPTIONS: `--require=${BLOCKER}`,
    BLOCK_MS: String(BLOCKED_MS),
  });
  await worker.waitForPoll('changed');
  await worker.waitForPoll('unchanged');
  const before = leagueRequests(bench.simulator).length;
  const blockedAt = performance.now();
  worker.send('SIGUSR2');
  await worker.waitForLog((line) => line.kind === 'leagues' && line.trigger === 'catch-up');
  for (let more = 0; more < POLLS_AFTER; more += 1) await worker.waitForPoll('unchanged');
  const turnedMs = performance.now() - blockedAt - BLOCKED_MS;
  expect((await worker.stop()).code).toBe(0);

  // The catch-up run, and possibly a scheduled run at each end of the interval.
  expect(leagueRequests(bench.simulator).length - before).toBeLessThanOrEqual(turnedMs / SLOT_MS + 3);
  // A run counts as late after two seconds, so a busy machine may cause one more catch-up, but never one per missed run.
  const madeUp = bench.rows("SELECT started_at AS at FROM runs WHERE trigger = 'catch-up' ORDER BY id");
  const instants = madeUp.map(({ at }) => Date.parse(String(at)));
  for (const [index, at] of instants.slice(1).entries()) {
    expect(at - (instants[index] ?? 0)).toBeGreaterThan(SLOT_MS);
  }
  expect(bench.rows("SELECT id FROM runs WHERE outcome NOT IN ('changed', 'unchanged', 'interrupted')")).toEqual([]);
});
