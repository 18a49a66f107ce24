import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { makeLeague } from '../support/leagues.ts';
import { type RunningProgram, runProgram, startProgram } from '../support/program.ts';
import { sendWebhook } from '../support/webhook.ts';

type Started = { readonly program: RunningProgram; readonly url: string };

async function simulate(...args: string[]): Promise<Started> {
  const program = startProgram(['simulate', '--port', '0', ...args], { cwd: makeFolder().path });
  const { url } = await program.waitForLog((line) => typeof line.url === 'string');
  return { program, url: String(url) };
}

/** Like curl: returns the status, and the body as JSON. */
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
  it('logs in, lists 124 leagues, filters them by status, and exits 0 when stopped', async () => {
    const { program, url } = await simulate();
    expect((await listLeagues(url)).body.leagues).toHaveLength(124);
    const active = await listLeagues(url, undefined, '?status=active');
    expect(new Set(active.body.leagues.map((league: { status: string }) => league.status))).toEqual(
      new Set(['active']),
    );
    expect((await program.stop()).code).toBe(0);
  });

  it('refuses wrong credentials and missing tokens with 401 and result=fail', async () => {
    const { url } = await simulate('--username', 'someone', '--password', 'something');
    expect(await logIn(url, 'someone:else')).toMatchObject({ status: 401, body: { result: 'fail' } });
    expect(await logIn(url, 'someone:something')).toMatchObject({ status: 200, body: { result: 'success' } });
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
    const { path: cwd } = makeFolder();
    const file = join(cwd, 'leagues.json');
    writeFileSync(file, JSON.stringify([makeLeague('mine')]));
    const { url } = await simulate('--leagues', file);
    expect((await listLeagues(url)).body.leagues).toEqual([makeLeague('mine')]);
  });

  it('receives webhooks that are signed with its secret', async () => {
    const { url } = await simulate();
    expect((await sendWebhook({ url })).status).toBe(204);
    expect((await sendWebhook({ url }, { secrets: [] })).status).toBe(401);
    expect((await call(`${url}/_webhooks`)).body.messages).toMatchObject([{ status: 204 }, { status: 401 }]);
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
    const { code, stderr } = await runProgram(['simulate', ...args], { cwd: makeFolder().path });
    expect(code).toBe(64);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('exits 64 and names the port if it is taken', async () => {
    const { url } = await simulate();
    const { code, stderr } = await runProgram(['simulate', '--port', new URL(url).port], { cwd: makeFolder().path });
    expect(code).toBe(64);
    expect(stderr).toContain(new URL(url).port);
  });
});
