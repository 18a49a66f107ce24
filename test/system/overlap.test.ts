import { expect, it } from 'vitest';
import { EVERY_SECOND, setUpFor } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';
import { expectNoOverlap, listLeagues, startService } from '../support/service.ts';

const SLOW_MS = 3_000;
const POLLS = 3;

it('polls never overlap when the service is slower than the schedule, and skipped runs are logged', async () => {
  const service = await startService({ leagues: { ...listLeagues([makeLeague('a')]), delayMs: SLOW_MS } });
  const worker = setUpFor(service.url).start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  const polls = await eventually('some polls have ended', () => {
    const ended = service.seen('leagues').filter(({ endedAt }) => endedAt < Infinity);
    return ended.length >= POLLS && ended;
  });

  expectNoOverlap(polls);
  const skipped = worker.log().filter((line) => /skipped/.test(String(line.msg)));
  expect(skipped.length).toBeGreaterThanOrEqual(POLLS);
  expect(skipped[0]).toMatchObject({ kind: 'leagues' });
});
