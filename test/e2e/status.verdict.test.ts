import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { type SimulatedBench, setUpSynced } from '../support/bench.ts';
import { execute } from '../support/database.ts';
import { type Environment, eventually } from '../support/program.ts';

const LONG_AGO = '2026-11-20T12:00:00.000Z';

/** The exit codes of `status --fail-if-stale`, as text and with --json, and the first line. */
async function judgeByExit(bench: SimulatedBench, env: Environment = {}) {
  const [text, json] = [
    await bench.run(['status', '--fail-if-stale'], env),
    await bench.run(['status', '--fail-if-stale', '--json'], env),
  ];
  expect(JSON.parse(json.stdout)).toHaveProperty('freshness');
  expect(text.code).toBe(json.code);
  return { code: text.code, first: text.stdout.split('\n')[0] };
}

describe('the verdict of status', { timeout: 60_000 }, () => {
  it('makes --fail-if-stale exit 1 only for stale data', async () => {
    const bench = await setUpSynced();
    expect(await judgeByExit(bench)).toMatchObject({ code: 0, first: expect.stringMatching(/^● up to date · /) });
    bench.simulator.setFault('login-refused', true);
    expect((await bench.run(['sync'])).code).toBe(77);
    expect(await judgeByExit(bench)).toMatchObject({
      code: 0,
      first: expect.stringMatching(/^● up to date, but the service refuses the credentials · 124 leagues · synced /),
    });
    execute(bench.database, `UPDATE runs SET started_at = '${LONG_AGO}', finished_at = '${LONG_AGO}'`);
    // `stale_at` decides, and not the age.
    expect((await judgeByExit(bench)).code).toBe(0);
    execute(bench.database, `UPDATE runs SET stale_at = '${LONG_AGO}' WHERE stale_at IS NOT NULL`);
    expect((await judgeByExit(bench, { LEAGUE_SYNC_STALE_AFTER: '9999d' })).code).toBe(1);
    expect((await bench.run(['status'])).code).toBe(0);
  });

  it('and of what has one cause, the advice comes once', async () => {
    const bench = await setUpSynced();
    const advice = async () => {
      const { stdout } = await bench.run(['status']);
      expect(stdout.match(/^! /gm)).toHaveLength(bench.rows('SELECT * FROM attention').length);
      return stdout.match(/(?<=^ {2}→ ).*$/gm);
    };
    execute(bench.database, `UPDATE runs SET stale_at = '${LONG_AGO}'`);
    // Below the verdict stands that no worker runs, and how to start one.
    expect(await advice()).toEqual(null);
    bench.simulator.setFault('down', true);
    expect((await bench.run(['sync'])).code).toBe(1);
    expect(await advice()).toEqual(['To see why: league-sync check.']);
    const worker = bench.startWorker();
    await worker.waitForLog((line) => /^worker started/.test(String(line.msg)));
    expect(await advice()).toEqual([expect.stringMatching(/^The worker tries again by itself/)]);
    await worker.stop();
    bench.simulator.setFault('down', false);
    bench.simulator.setFault('redirect', true);
    expect((await bench.run(['profile'])).code).toBe(1);
    // No row of `attention` tells of it.
    expect((await bench.run(['status'])).stdout).toMatch(/ profile .*; check LEAGUE_SYNC_BASE_URL\./);
    bench.simulator.setFault('redirect', false);
    bench.simulator.setFault('login-refused', true);
    expect((await bench.run(['sync'])).code).toBe(77);
    expect(await advice()).toEqual([expect.stringMatching(/^Correct LEAGUE_SYNC_USERNAME /)]);
  });
});

describe('a token', { timeout: 60_000 }, () => {
  it('is shown only while a worker that may hold it is running', async () => {
    const bench = await setUpSynced();
    const told = async () => {
      const { stdout } = await bench.run(['status']);
      const { token_expires_at } = JSON.parse((await bench.run(['status', '--json'])).stdout);
      expect(/^token expires/m.test(stdout)).toBe(token_expires_at !== null);
      return stdout.match(/^token expires +.*$/m)?.[0];
    };
    expect(await told()).toBe(undefined);
    bench.simulator.setFault('login-down', true);
    const worker = bench.start(['run'], { LEAGUE_SYNC_RUN_TIMEOUT: '3s' });
    await worker.waitForLog((line) => /^worker started/.test(String(line.msg)));
    // The token of `sync` is lost with its process.
    expect(await told()).toBe(undefined);
    bench.simulator.setFault('login-down', false);
    await eventually('there is a token', () => bench.rows("SELECT 1 FROM logins WHERE outcome = 'ok'").length > 1);
    expect(await told()).toMatch(/Z \(in (59|60) min\)$/);
    execute(bench.database, `UPDATE logins SET expires_at = '${LONG_AGO}'`);
    expect(await told()).toMatch(/^token expires {3}2026-11-20T12:00:00.000Z \(expired \d+ \S+ ago\)$/);
    await worker.stop();
    expect(await told()).toBe(undefined);
  });

  it('may be held by a worker on another host', async () => {
    const bench = await setUpSynced();
    execute(
      `${bench.database}.lock`,
      `CREATE TABLE holder (pid INTEGER, host TEXT, since TEXT);
      INSERT INTO holder VALUES (1, 'not-${hostname()}', '${LONG_AGO}')`,
    );
    const { stdout } = await bench.run(['status']);
    expect(stdout).toMatch(/^token expires +2.*Z \(in (59|60) min\)$/m);
    expect(stdout).toMatch(
      /^worker +process 1 on not-.*, by the lock file; only that host or container can tell whether it still runs$/m,
    );
    expect(stdout).not.toContain('no worker runs');
  });
});
