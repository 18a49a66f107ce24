import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addSettings, setUp } from '../support/bench.ts';
import { makeSecret } from '../support/webhook-messages.ts';

it('check --report writes what a bug report needs, without any secret', async () => {
  const bench = await setUp({ password: 'canary-password' });
  const file = join(bench.folder, 'report.json');
  writeFileSync(join(bench.folder, 'heartbeat'), 'http://127.0.0.1:9/canary-ping?canary-query');
  writeFileSync(join(bench.folder, '.env'), 'LEAGUE_SYNC_TIMEZONE=Europe/Berlin\nLEAGUE_SYNC_TOKEN=canary-unknown\n');
  const secret = makeSecret();
  const set = addSettings(bench, {
    LEAGUE_SYNC_PASSWORD: 'canary-password',
    LEAGUE_SYNC_HEARTBEAT_URL_FILE: 'heartbeat',
    LEAGUE_SYNC_WEBHOOK_URL: 'http://canary-user:canary-word@127.0.0.1:9/canary-hook?key=canary-key',
    LEAGUE_SYNC_WEBHOOK_SECRET: secret,
    LEAGUE_SYNC_POSTGRES_URL: 'postgres://someone:canary%21sql@127.0.0.1:9/mirror',
    HTTPS_PROXY: 'http://canary-proxy:canary-word@127.0.0.1:9',
    NO_PROXY: '127.0.0.1',
  });
  expect((await set.run(['sync'])).code).toBe(0);
  // As if it had been set under a wrong name.
  const misplaced = { LEAGUE_SYNC_QUIET_FIELDS: 'city,canary-password' };
  const { code, stdout } = await set.run(['check', '--report', 'report.json'], misplaced);
  // The mirror of these settings cannot be reached.
  expect([code, stdout]).toEqual([1, expect.stringContaining('report.json, without secrets')]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, 'utf8');
  expect(text).not.toMatch(/canary/);
  expect(text).not.toContain(secret.slice('whsec_'.length));
  const report = JSON.parse(text);
  expect(report).toMatchObject({
    versions: { league_sync: expect.any(String), node: process.version, schema: 2 },
    runs: [{ outcome: 'changed', added: 124 }],
    logins: [{ outcome: 'ok' }],
    drift: [],
    status: { freshness: { live_leagues: 124 } },
    sizes: { rows: { leagues: 124, league_changes: 124 } },
  });
  expect(report.checks.length).toBeGreaterThan(10);
  expect(report.settings).toEqual(
    expect.arrayContaining([
      { name: 'LEAGUE_SYNC_PASSWORD', source: 'environment' },
      { name: 'LEAGUE_SYNC_TIMEZONE', source: '.env', value: 'Europe/Berlin' },
      { name: 'LEAGUE_SYNC_RUN_TIMEOUT', source: 'default', value: '2m' },
      { name: 'LEAGUE_SYNC_TOKEN', source: '.env' },
    ]),
  );
  const again = await set.run(['check', '--report', 'report.json']);
  expect([again.code, again.stdout, readFileSync(file, 'utf8')]).toEqual([64, '', text]);
});

it('check --report is written of faulty settings, too', async () => {
  const bench = await setUp();
  await bench.run(['check', '--report', 'report.json'], {
    LEAGUE_SYNC_MAX_BODY: 'x',
    // The password instead of a file.
    LEAGUE_SYNC_PASSWORD_FILE: 'canary-password',
  });
  const text = readFileSync(join(bench.folder, 'report.json'), 'utf8');
  expect(text).not.toContain('canary');
  expect(JSON.parse(text)).toMatchObject({
    status: null,
    checks: expect.arrayContaining([expect.objectContaining({ result: 'fail' })]),
  });
});

it('check --report tells the settings of the environment where .env cannot be read, and keeps what cannot be decoded secret', async () => {
  const bench = await setUp();
  mkdirSync(join(bench.folder, '.env'));
  const env = {
    LEAGUE_SYNC_TIMEZONE: 'Asia/Tokyo',
    LEAGUE_SYNC_POSTGRES_URL: 'postgres://player:canary-sql%@127.0.0.1:9/x',
  };
  expect((await bench.run(['check', '--report', 'report.json'], env)).code).toBe(1);
  const text = readFileSync(join(bench.folder, 'report.json'), 'utf8');
  expect(text).not.toContain('canary');
  const set = { name: 'LEAGUE_SYNC_TIMEZONE', source: 'environment', value: 'Asia/Tokyo' };
  expect(JSON.parse(text).settings).toContainEqual(set);
});
