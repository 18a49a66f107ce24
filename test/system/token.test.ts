import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { eventually } from '../support/program.ts';

const TOKEN_LIFE_MS = 6_000;
/** How long tokens are watched, in seconds; CI may look for longer. */
const WATCHED_MS = Number(process.env.TEST_LONG ?? 8) * 1_000;

it('logs in again before each token expires, independently of polls, and never sends an expired token', {
  timeout: WATCHED_MS + 40_000,
}, async () => {
  const bench = await setUp({ tokenLifeMs: TOKEN_LIFE_MS });
  const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: '0 * * * *' });
  await worker.waitForPoll('changed');
  const first = Date.now();
  await eventually('tokens were watched for long enough', () => Date.now() - first > WATCHED_MS, WATCHED_MS * 2);
  worker.send('SIGHUP');
  await worker.waitForPoll('unchanged');

  const { requests } = bench.simulator;
  const logins = requests.filter((seen) => seen.basic !== undefined).map((seen) => seen.at);
  const gaps = logins.slice(1).map((at, index) => at - (logins[index] ?? 0));
  expect(gaps.length).toBeGreaterThanOrEqual(Math.floor(WATCHED_MS / TOKEN_LIFE_MS));
  expect(Math.max(...gaps)).toBeLessThan(TOKEN_LIFE_MS);
  expect(requests.filter((seen) => seen.basic === undefined).map((seen) => seen.token)).not.toContain('expired');
  expect(requests.every((seen) => seen.status === 200)).toBe(true);
  expect(new Set(bench.rows('SELECT reason FROM logins WHERE id > 1').map((row) => row.reason))).toEqual(
    new Set(['due']),
  );
});
