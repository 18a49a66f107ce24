import { expect, it } from 'vitest';
import { leagueRequests, setUp } from '../support/bench.ts';
import { eventually } from '../support/program.ts';

/** What the simulated service asks for. */
const RETRY_AFTER_MS = 1_000;
/** Both sides round the instants that they compare. */
const CLOCK_ROUNDING_MS = 5;
/** Long enough for the four attempts of a run, and for a second run to show. */
const WATCHED_MS = 8_000;

it('a run that fails at a rate limit is followed by none before the next slot', async () => {
  const bench = await setUp({ faults: ['rate-limit'] });
  const worker = bench.start(['run']);
  const startedAt = performance.now();
  expect(await worker.waitForPoll()).toMatchObject({ outcome: 'failed', attempts: 4 });
  await eventually('later runs had their time', () => performance.now() - startedAt > WATCHED_MS);

  const seen = leagueRequests(bench.simulator);
  expect(seen).toHaveLength(4);
  const gaps = seen.slice(1).map((request, index) => request.at - (seen[index]?.at ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(RETRY_AFTER_MS - CLOCK_ROUNDING_MS);
  expect(bench.rows('SELECT outcome, attempts FROM runs')).toEqual([{ outcome: 'failed', attempts: 4 }]);
});
