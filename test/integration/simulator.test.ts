import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { churn, createRandom, startChurn } from '../../src/simulator/churn.ts';
import { faults, SLOW_MS } from '../../src/simulator/faults.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import type { Row } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import { readWebhooks, sendWebhook } from '../support/webhook.ts';

const LOGIN_PATH = '/players/v1/authenticate/login';
const LEAGUES_PATH = '/events/v1/leagues/';

const League = z.looseObject({ league_id: z.string(), league_name: z.string(), status: z.string() });
const LeagueAnswer = z.object({ message: z.string(), leagues: z.array(League), timestamp: z.iso.datetime() });
const RawLeagueAnswer = z.object({ leagues: z.array(z.unknown()) });
const LoginAnswer = z.object({ access_token: z.string(), refresh_token: z.string(), expire_datetime: z.string() });
const failed = { result: 'fail', message: expect.any(String) };

type LoginOptions = { pair?: string; body?: string; contentType?: string };

function logIn(
  simulator: Simulator,
  { pair, body, contentType = 'Application/JSON; charset=utf-8' }: LoginOptions = {},
): Promise<Response> {
  const encoded = Buffer.from(pair ?? 'player:secret-password').toString('base64');
  return fetch(simulator.url + LOGIN_PATH, {
    method: 'POST',
    headers: { 'Content-Type': contentType, Authorization: `Basic ${encoded}` },
    body: body ?? JSON.stringify({ attribute: 'username' }),
  });
}

async function takeToken(simulator: Simulator): Promise<string> {
  const response = await logIn(simulator);
  return LoginAnswer.parse(await response.json()).access_token;
}

type GetOptions = {
  readonly token: string;
  readonly signal?: AbortSignal;
  readonly etag?: string;
};

function get(simulator: Simulator, path: string, { token, signal, etag }: GetOptions): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, ...(etag === undefined ? {} : { 'If-None-Match': etag }) };
  return fetch(simulator.url + path, { headers, signal: signal ?? null, redirect: 'manual' });
}

async function listLeagues(simulator: Simulator, token: string, query = '') {
  const response = await get(simulator, LEAGUES_PATH + query, { token });
  return LeagueAnswer.parse(await response.json()).leagues;
}

async function listRaw(simulator: Simulator, token: string): Promise<unknown[]> {
  const response = await get(simulator, LEAGUES_PATH, { token });
  return RawLeagueAnswer.parse(await response.json()).leagues;
}

/** Leagues of which every second one is inactive. */
function makeMixedLeagues(count: number) {
  const status = (index: number) => (index % 2 === 0 ? 'active' : 'inactive');
  return Array.from({ length: count }, (_, index) =>
    makeLeague(`league-${index}`, { league_name: `League ${index}`, priority: index, status: status(index) }),
  );
}

it.each([
  ['a wrong password', { pair: 'player:wrong' }, 401],
  ['a pair without a colon', { pair: 'player' }, 401],
  ['another attribute', { body: '{"attribute":"email"}' }, 400],
  ['no attribute', { body: '{}' }, 400],
  ['no JSON', { body: 'attribute=username' }, 400],
  ['another content type', { contentType: 'application/jsonp' }, 415],
])('a login with %s is refused', async (_, options, status) => {
  await using simulator = await startSimulator();
  const response = await logIn(simulator, options);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual(failed);
});

it('tokens serve up to the millisecond before their expiry', async () => {
  let now = Date.UTC(2026, 10, 20);
  await using simulator = await startSimulator({ tokenLifeMs: 5_000, now: () => now });
  const token = await takeToken(simulator);
  now += 4_999;
  expect((await get(simulator, LEAGUES_PATH, { token })).status).toBe(200);
  now += 1;
  expect((await get(simulator, LEAGUES_PATH, { token })).status).toBe(401);
  expect(simulator.requests.map((seen) => seen.token)).toEqual(['none', 'valid', 'expired']);
});

it('leagues are the bundled list by default, split in two by the filter', async () => {
  await using simulator = await startSimulator();
  const token = await takeToken(simulator);
  const all = await listLeagues(simulator, token);
  expect(all).toEqual(simulator.leagues());
  expect(all.length).toBeGreaterThan(100);
  for (const status of ['active', 'inactive']) {
    const filtered = await listLeagues(simulator, token, `?status=${status}`);
    expect(filtered).toEqual(all.filter((league) => league.status === status));
    expect(filtered).not.toHaveLength(0);
  }
});

type FaultCheck = (simulator: Simulator, token: string) => Promise<unknown>;

/** The list under a fault. */
const LISTS: Readonly<Record<string, (leagues: readonly Row[]) => readonly unknown[]>> = {
  'empty-list': () => [],
  'drop-third': (leagues) => leagues.filter((_, index) => index % 3 !== 2),
  'new-field': (leagues) => leagues.map((league) => ({ ...league, broadcast_partner: 'Example TV' })),
  duplicates: (leagues) => [...leagues, leagues[0], leagues[10], { ...leagues[1], league_name: 'League 1 (again)' }],
};

const faultChecks: Record<string, FaultCheck> = {
  etag: async (simulator, token) => {
    const ask = (etag: string) => get(simulator, LEAGUES_PATH, { token, etag });
    const etag = String((await ask('"another"')).headers.get('etag'));
    expect(await listRaw(simulator, token)).toEqual(makeMixedLeagues(20));
    const again = await ask(etag);
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    simulator.setLeagues(makeMixedLeagues(19));
    const changed = await ask(etag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
    simulator.setLeagues(makeMixedLeagues(20));
  },
  flapping: async (simulator, token) => {
    const asked = Array.from({ length: 20 }, () => get(simulator, LEAGUES_PATH, { token }).then(() => 'answered'));
    const fates = (await Promise.allSettled(asked)).map(({ status }) => status);
    expect(new Set(fates)).toEqual(new Set(['fulfilled', 'rejected']));
  },
  'revoke-tokens': async (simulator, token) => {
    expect((await get(simulator, LEAGUES_PATH, { token })).status).toBe(401);
    const next = await takeToken(simulator);
    simulator.setFault('revoke-tokens', false);
    expect((await get(simulator, LEAGUES_PATH, { token: next })).status).toBe(200);
  },
  slow: async (simulator, token) => {
    const askedAt = performance.now();
    expect((await get(simulator, LEAGUES_PATH, { token })).status).toBe(200);
    expect(performance.now() - askedAt).toBeGreaterThan(SLOW_MS - 20);
  },
  'webhook-500': async (simulator) => {
    expect((await sendWebhook(simulator)).status).toBe(500);
    expect(await readWebhooks(simulator)).toMatchObject([{ verified: true, status: 500 }]);
  },
  'webhook-410': async (simulator) => expect((await sendWebhook(simulator)).status).toBe(410),
  'webhook-hang': async (simulator) => {
    const client = new AbortController();
    const answer = sendWebhook(simulator, { signal: client.signal })
      .then(() => 'answered')
      .catch(() => 'given up');
    const isShown = async () => expect(await readWebhooks(simulator)).toMatchObject([{ verified: true, status: null }]);
    await vi.waitFor(isShown, { timeout: 10_000 });
    client.abort();
    expect(await answer).toBe('given up');
  },
};

// What the others do is seen by the tests that use them, foremost e2e/check.service.test.ts.
describe('faults', () => {
  it.each(Object.keys({ ...LISTS, ...faultChecks }))('do what they say: %s', async (name) => {
    await using simulator = await startSimulator({ leagues: makeMixedLeagues(20) });
    const token = await takeToken(simulator);
    simulator.setFault(name, true);
    if (name in LISTS) expect(await listRaw(simulator, token)).toEqual(LISTS[name]?.(makeMixedLeagues(20)));
    await faultChecks[name]?.(simulator, token);
    simulator.setFault(name, false);
    expect(await listRaw(simulator, await takeToken(simulator))).toEqual(makeMixedLeagues(20));
  });

  it('are switched over HTTP, even while everything hangs', async () => {
    await using simulator = await startSimulator({ faults: ['hang'] });
    const url = `${simulator.url}/_faults`;
    expect((await fetch(`${url}/down`, { method: 'PUT' })).status).toBe(204);
    expect((await fetch(`${url}/hang`, { method: 'DELETE' })).status).toBe(204);
    expect(await (await fetch(url)).json()).toEqual({
      active: ['down'],
      known: faults.map(({ name, description }) => ({ name, description })),
    });
    expect((await logIn(simulator)).status).toBe(503);
    expect(simulator.requests).toHaveLength(1);
  });

  it('are all switched off by DELETE, and every change is reported', async () => {
    const heard: (readonly string[])[] = [];
    await using simulator = await startSimulator({ faults: ['slow'], onSwitched: (active) => heard.push(active) });
    const url = `${simulator.url}/_faults`;
    await fetch(`${url}/down`, { method: 'PUT' });
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(204);
    expect(simulator.faults()).toEqual([]);
    expect(heard).toEqual([['down', 'slow'], []]);
    const posted = await fetch(url, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, DELETE']);
  });
});

it('churn changes something at every step, one to three leagues at most, and stays within bounds', () => {
  const random = createRandom(1);
  let state = startChurn(makeMixedLeagues(40));
  const sizes = new Set<number>();
  for (let index = 0; index < 5_000; index++) {
    const next = churn(state, random, index);
    const known = new Set(state.listed);
    const touched = next.listed.filter((league) => !known.has(league)).length;
    const step = next.listed.length - state.listed.length;
    expect(Math.max(touched, -step)).toBeOneOf([1, 2, 3]);
    expect(next.removed.length).toBeLessThanOrEqual(5);
    sizes.add(step);
    state = next;
  }
  expect(sizes).toEqual(new Set([-1, 0, 1]));
  expect(state.listed.length).toBeGreaterThan(30);
  const ids = state.listed.map((league) => League.parse(league).league_id);
  expect(new Set(ids).size).toBe(ids.length);
});
