import { expect, it } from 'vitest';
import { EVERY_SECOND, setUpFor } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import type { LogLine } from '../support/program.ts';
import { expectNoOverlap, listLeagues, startService } from '../support/service.ts';

const SLOT_MS = 1_000;
/** Several scheduled times, and longer than the scheduler's tolerance. */
const SLOW_MS = 3_500;
const POLLS_AFTER = 3;

function isSkip({ msg }: LogLine): boolean {
  return /skipped: the previous run is still in progress/.test(String(msg));
}

it('scheduled runs during a long run are skipped and logged, not made up, and the next one takes place', async () => {
  const list = listLeagues([makeLeague('a')]);
  const service = await startService({ leagues: [{ ...list, delayMs: SLOW_MS }, list] });
  const bench = setUpFor(service.url);
  const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  await worker.waitForPoll('changed');
  const endedAt = performance.now();
  for (let more = 0; more < POLLS_AFTER; more += 1) await worker.waitForPoll('unchanged');
  const elapsedMs = performance.now() - endedAt;
  expect((await worker.stop()).code).toBe(0);

  expect(worker.log().find(isSkip)).toMatchObject({ kind: 'leagues' });
  // Catch-up runs would come at once, one after the other.
  expect(service.seen('leagues').length - 1).toBeLessThanOrEqual(elapsedMs / SLOT_MS + 2);
  expectNoOverlap(service.seen('leagues'));
});
