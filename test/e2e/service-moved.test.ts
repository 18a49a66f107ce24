import { expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { PASSWORD, setUp, setUpSynced, USERNAME } from '../support/bench.ts';

const OWNER = 'SELECT base_url FROM database_identity';

async function startOther(leagues?: readonly unknown[]) {
  const other = await startSimulator({ username: USERNAME, password: PASSWORD, ...(leagues && { leagues }) });
  onTestFinished(() => other.close());
  return { other, atOther: { LEAGUE_SYNC_BASE_URL: other.url } };
}

it('a database of another service is refused before anything is sent, by every command that polls', async () => {
  const bench = await setUpSynced();
  const { other, atOther } = await startOther();
  const both = new RegExp(
    `${other.url}, but the database .*leagues.db belongs to the service at ${bench.simulator.url}`,
  );
  for (const args of [['sync'], ['sync', '--dry-run'], ['profile'], ['run']]) {
    const { code, stderr } = await bench.run(args, atOther);
    expect([args, code, stderr]).toEqual([args, 78, expect.stringMatching(both)]);
    expect(stderr).toContain('sync --service-moved');
  }
  expect(other.requests).toEqual([]);
  expect(bench.rows('SELECT count(*) AS runs FROM runs')).toEqual([{ runs: 1 }]);
  const { stdout } = await bench.run(['check'], atOther);
  expect(stdout).toMatch(new RegExp(`^fail +owner +LEAGUE_SYNC_BASE_URL is ${both.source}`, 'm'));
});

it('sync --service-moved gives the database to the service with the next good poll, and with no other', async () => {
  const bench = await setUpSynced();
  const before = bench.rows(OWNER);
  const { other, atOther } = await startOther([]);
  other.setFault('down', true);
  expect((await bench.run(['sync', '--service-moved'], { ...atOther, LEAGUE_SYNC_RUN_TIMEOUT: '1s' })).code).toBe(1);
  expect(bench.rows(OWNER)).toEqual(before);
  other.setFault('down', false);
  expect((await bench.run(['sync', '--dry-run', '--service-moved'], atOther)).code).toBe(3);
  expect(bench.rows(OWNER)).toEqual(before);
  // The guard holds the removals, as at any other poll.
  expect((await bench.run(['sync', '--service-moved'], atOther)).code).toBe(3);
  expect(bench.rows(OWNER)).toEqual([{ base_url: other.url }]);
  expect((await bench.run(['sync'])).code).toBe(78);
  expect((await bench.run(['sync'], atOther)).code).toBe(3);
});

it('a database belongs to no service before its first good poll', async () => {
  const bench = await setUp();
  bench.simulator.setFault('result-fail', true);
  expect((await bench.run(['sync'])).code).not.toBe(0);
  const { other, atOther } = await startOther();
  expect((await bench.run(['sync'], atOther)).code).toBe(0);
  expect(bench.rows(OWNER)).toEqual([{ base_url: other.url }]);
});
