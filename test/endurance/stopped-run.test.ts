import { expect, it } from 'vitest';
import { EVERY_SECOND, setUpFor } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';
import { expectNoOverlap, listLeagues, startService } from '../support/service.ts';

const SLOT_MS = 1_000;
const SLOW_MS = 4_500;
/** Longer than the run timeout, and until after the response, which is waiting when the process continues. */
const STOPPED_MS = SLOW_MS + 1_500;
const POLLS_AFTER = 4;

it('a run whose process is suspended beyond the run timeout fails, and one poll catches up', async () => {
  const list = listLeagues([makeLeague('a')]);
  const service = await startService({ leagues: [{ ...list, delayMs: SLOW_MS }, list] });
  const polls = () => service.seen('leagues');
  const bench = setUpFor(service.url);
  const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND, LEAGUE_SYNC_RUN_TIMEOUT: '3s' });
  await eventually('the run is under way', () => polls().length === 1);
  worker.send('SIGSTOP');
  const stoppedAt = performance.now();
  await eventually('the run is over by any clock', () => performance.now() - stoppedAt > STOPPED_MS);
  worker.send('SIGCONT');
  await worker.waitForPoll();
  const [wokeAt, known] = [performance.now(), polls().length];
  for (let more = 0; more < POLLS_AFTER; more += 1) await worker.waitForPoll('unchanged');
  const elapsedMs = performance.now() - wokeAt;
  expect((await worker.stop()).code).toBe(0);

  const [first, second] = bench.rows('SELECT trigger, outcome, error_kind FROM runs ORDER BY id');
  expect(first).toMatchObject({ trigger: 'start' });
  // The response may be read before the deadline is checked; otherwise the run timed out.
  if (first?.outcome !== 'changed') expect(first).toMatchObject({ outcome: 'failed', error_kind: 'timeout' });
  expect(second?.trigger).toBe('catch-up');
  // Six runs were missed; without merging, their catch-up runs would follow at once.
  expect(polls().length - known).toBeLessThanOrEqual(elapsedMs / SLOT_MS + 2);
  expectNoOverlap(polls());
});
