import { expect, it } from 'vitest';
import { leagueRequests, setUp, setUpFor } from '../support/bench.ts';
import { eventually } from '../support/program.ts';
import { fail, listLeagues, startService } from '../support/service.ts';

/** The Retry-After of the simulated service. */
const RETRY_AFTER_MS = 1_000;
/** Both sides round the timestamps that they compare. */
const CLOCK_ROUNDING_MS = 5;
/** Long enough to notice a third run. */
const WATCHED_MS = 4_000;

it('a run that fails at a rate limit is followed by one at the end of the Retry-After, and by none after that', async () => {
  const bench = await setUp({ faults: ['rate-limit'] });
  const worker = bench.start(['run']);
  expect(await worker.waitForPoll()).toMatchObject({ outcome: 'failed', attempts: 4 });
  expect(await worker.waitForPoll()).toMatchObject({ outcome: 'failed', attempts: 4, trigger: 'catch-up' });
  const startedAt = performance.now();
  await eventually('later runs had their time', () => performance.now() - startedAt > WATCHED_MS);

  const seen = leagueRequests(bench.simulator);
  expect(seen).toHaveLength(8);
  const gaps = seen.slice(1).map((request, index) => request.at - (seen[index]?.at ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(RETRY_AFTER_MS - CLOCK_ROUNDING_MS);
  expect(bench.rows('SELECT count(*) AS n FROM runs')).toEqual([{ n: 2 }]);
});

it('a Retry-After that a run waits for is honoured by the next worker if the first one is killed', async () => {
  const PAUSE_MS = 6_000;
  const service = await startService({
    leagues: [fail(429, { 'retry-after': String(PAUSE_MS / 1_000) }), listLeagues([])],
  });
  const bench = setUpFor(service.url);
  const first = bench.start(['run']);
  await eventually('the pause is asked for', () => service.requests.length === 2);
  const pending = () => bench.rows('SELECT not_before FROM runs')[0]?.not_before;
  await eventually('the pause is written down', () => pending() !== null);
  await first.stop('SIGKILL');

  await bench.start(['run']).waitForPoll('unchanged');
  const [, asked, next] = service.requests;
  expect((next?.beganAt ?? 0) - (asked?.beganAt ?? 0)).toBeGreaterThanOrEqual(PAUSE_MS - CLOCK_ROUNDING_MS);
  expect(bench.rows('SELECT outcome, not_before IS NULL AS over FROM runs')).toEqual([
    { outcome: 'interrupted', over: 0 },
    { outcome: 'unchanged', over: 1 },
  ]);
});
