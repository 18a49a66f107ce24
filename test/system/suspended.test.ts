import { expect, it } from 'vitest';
import { leagueRequests, setUp } from '../support/bench.ts';
import { eventually } from '../support/program.ts';

const SLOT_MS = 2_000;
/** Several scheduled times, and longer than the scheduler's tolerance. */
const SUSPENDED_MS = 7_000;

it('a worker whose process was stopped makes up once for the runs that it missed, and returns to the schedule', async () => {
  const bench = await setUp();
  const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: '*/2 * * * * *' });
  await worker.waitForPoll('changed');
  await worker.waitForPoll('unchanged');
  worker.send('SIGSTOP');
  const stoppedAt = performance.now();
  await eventually('it has missed several runs', () => performance.now() - stoppedAt > SUSPENDED_MS);
  const polls = leagueRequests(bench.simulator).length;
  worker.send('SIGCONT');
  await worker.waitForPoll('unchanged');
  await worker.waitForPoll('unchanged');
  const [made, next] = leagueRequests(bench.simulator).slice(polls);
  expect((await worker.stop()).code).toBe(0);

  const triggers = bench.rows('SELECT trigger FROM runs ORDER BY id').map(({ trigger }) => trigger);
  expect(triggers.filter((trigger) => trigger === 'catch-up')).toEqual(['catch-up']);
  // The next run comes at its scheduled time, or at most one later, and not once per missed run.
  expect((next?.at ?? 0) - (made?.at ?? 0)).toBeLessThanOrEqual(2 * SLOT_MS);
  expect(bench.rows("SELECT id FROM runs WHERE outcome NOT IN ('changed', 'unchanged', 'interrupted')")).toEqual([]);
});
