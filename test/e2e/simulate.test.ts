import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../support/bench.ts';
import { ask } from '../support/database.ts';
import { type RunningProgram, runProgram, startProgram } from '../support/program.ts';
import { makeLeague } from '../support/service.ts';

type Started = { readonly program: RunningProgram; readonly url: string };

async function simulate(...args: string[]): Promise<Started> {
  const program = startProgram(['simulate', '--port', '0', ...args], { cwd: makeFolder() });
  const { url } = await program.waitForLog((line) => typeof line.url === 'string');
  return { program, url: String(url) };
}

/** As somebody with curl would: the status, and the body as JSON. */
async function call(address: string, init: RequestInit = {}) {
  const response = await fetch(address, init);
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

function logIn(url: string, pair: string) {
  return call(`${url}/players/v1/authenticate/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Basic ${btoa(pair)}` },
    body: JSON.stringify({ attribute: 'username' }),
  });
}

async function listLeagues(url: string, pair = 'player:secret-password', query = '') {
  const { body } = await logIn(url, pair);
  return call(`${url}/events/v1/leagues/${query}`, { headers: { Authorization: `Bearer ${body.access_token}` } });
}

describe('simulate', () => {
  it('logs in, lists 124 leagues, filters them by status, and ends with 0 when it is stopped', async () => {
    const { program, url } = await simulate();
    expect((await listLeagues(url)).body.leagues).toHaveLength(124);
    const active = await listLeagues(url, undefined, '?status=active');
    expect(new Set(active.body.leagues.map((league: { status: string }) => league.status))).toEqual(
      new Set(['active']),
    );
    expect((await program.stop()).code).toBe(0);
  });

  it('refuses wrong credentials and missing tokens with 401 and result=fail', async () => {
    const { url } = await simulate('--username', 'somebody', '--password', 'something');
    expect(await logIn(url, 'somebody:else')).toMatchObject({ status: 401, body: { result: 'fail' } });
    expect(await logIn(url, 'somebody:something')).toMatchObject({ status: 200, body: { result: 'success' } });
    expect(await call(`${url}/events/v1/leagues/`)).toMatchObject({ status: 401, body: { result: 'fail' } });
  });

  it('has its faults switched by PUT and DELETE while it runs', async () => {
    const { url } = await simulate('--fault', 'down');
    expect((await logIn(url, 'player:secret-password')).status).toBe(503);
    await call(`${url}/_faults/down`, { method: 'DELETE' });
    await call(`${url}/_faults/empty-list`, { method: 'PUT' });
    expect((await listLeagues(url)).body.leagues).toEqual([]);
    expect((await call(`${url}/_faults/no-such-fault`, { method: 'PUT' })).status).toBe(404);
  });

  it('serves the leagues of a file', async () => {
    const cwd = makeFolder();
    const file = join(cwd, 'leagues.json');
    writeFileSync(file, JSON.stringify([makeLeague('mine')]));
    const { url } = await simulate('--leagues', file);
    expect((await listLeagues(url)).body.leagues).toEqual([makeLeague('mine')]);
  });

  it.each([
    ['--port', '99999'],
    ['--port', 'http'],
    ['--token-life', 'long'],
    ['--churn', '5'],
    ['--fault', 'no-such-fault'],
    ['--leagues', '/nowhere.json'],
    ['--nonsense', 'x'],
  ])('exits 64 on %s %s', async (...args) => {
    const { code, stderr } = await runProgram(['simulate', ...args], { cwd: makeFolder() });
    expect(code).toBe(64);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('exits 64 and says so when its port is taken', async () => {
    const { url } = await simulate();
    const { code, stderr } = await runProgram(['simulate', '--port', new URL(url).port], { cwd: makeFolder() });
    expect(code).toBe(64);
    expect(stderr).toContain(new URL(url).port);
  });
});

describe('demo', () => {
  it('shows all of it for as long as it is told to, whatever the settings, and keeps its database', async () => {
    const cwd = makeFolder();
    mkdirSync(join(cwd, '.env'));
    const env = {
      LEAGUE_SYNC_BASE_URL: 'nonsense',
      LEAGUE_SYNC_SCHEDULE: 'never',
      LEAGUE_SYNC_DATABASE: '/nowhere/x.db',
    };
    const { code, stdout } = await runProgram(['demo', '--for', '5s'], { cwd, env });

    expect(code).toBe(0);
    expect(stdout).toContain('demo-data/leagues.db');
    expect(readdirSync(join(cwd, 'demo-data'))).toEqual(['leagues.db']);
    const database = join(cwd, 'demo-data', 'leagues.db');
    expect(ask(database, "SELECT count(*) AS n FROM league_changes WHERE kind = 'added' AND run_id = 1")).toEqual([
      { n: 124 },
    ]);
    expect(ask(database, "SELECT count(*) AS n FROM logins WHERE outcome = 'ok'")[0]?.n).toBeGreaterThanOrEqual(2);
    expect(readdirSync(cwd).sort()).toEqual(['.env', 'demo-data']);
  });

  it('starts anew each time, and ends with 0 when it is stopped', async () => {
    const cwd = makeFolder();
    mkdirSync(join(cwd, 'demo-data'));
    writeFileSync(join(cwd, 'demo-data', 'leagues.db'), 'left over');
    const demo = startProgram(['demo'], { cwd });
    await demo.waitForPoll('changed');
    expect((await demo.stop('SIGINT')).code).toBe(0);
    expect(readdirSync(join(cwd, 'demo-data'))).toEqual(['leagues.db']);
  });

  it('lasts when it is told to last longer than a timer can count', async () => {
    const demo = startProgram(['demo', '--for', '60d'], { cwd: makeFolder() });
    await demo.waitForPoll('changed');
    await demo.waitForPoll();
    expect(demo.alive()).toBe(true);
    const { code, stdout, stderr } = await demo.stop();
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain('TimeoutOverflowWarning');
  });

  it.each(['5', 'soon', '0s'])('exits 64 on --for %s', async (duration) => {
    expect((await runProgram(['demo', '--for', duration], { cwd: makeFolder() })).code).toBe(64);
  });
});
