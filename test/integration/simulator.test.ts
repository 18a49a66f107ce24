import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { churn, createRandom, startChurn } from '../../src/simulator/churn.ts';
import { faults, SLOW_MS } from '../../src/simulator/faults.ts';
import type { LoggedRequest } from '../../src/simulator/handler.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import type { Row } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import { readWebhooks, sendWebhook } from '../support/webhook.ts';

const LOGIN_PATH = '/players/v1/authenticate/login';
const PROFILE_PATH = '/players/v1/players/player/me';
const LEAGUES_PATH = '/events/v1/leagues/';
const TWO_HOURS_MS = 2 * 3_600_000;

const League = z.looseObject({ league_id: z.string(), league_name: z.string(), status: z.string() });
const LeagueAnswer = z.object({ message: z.string(), leagues: z.array(League), timestamp: z.iso.datetime() });
const RawLeagueAnswer = z.object({ leagues: z.array(z.unknown()) });
const LoginAnswer = z.object({ access_token: z.string(), refresh_token: z.string(), expire_datetime: z.string() });
const failed = { result: 'fail', message: expect.any(String) };

type LoginOptions = { pair?: string; body?: string; contentType?: string };

function logIn(
  simulator: Simulator,
  { pair, body, contentType = 'application/json' }: LoginOptions = {},
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

describe('login', () => {
  it('answers the right pair with tokens and an expiry in UTC', async () => {
    await using simulator = await startSimulator({ now: () => Date.UTC(2026, 10, 20, 11, 0, 0, 123) });
    const response = await logIn(simulator);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      result: 'success',
      message: 'Login successful',
      player_id: expect.any(String),
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      refresh_token: expect.stringMatching(/^[\w-]{43}$/),
      expire_datetime: '2026-11-20T12:00:00.123Z',
    });
    expect(response.headers.get('date')).toBe('Fri, 20 Nov 2026 11:00:00 GMT');
  });

  it.each([
    ['a wrong password', { pair: 'player:wrong' }, 401],
    ['a pair without a colon', { pair: 'player' }, 401],
    ['another attribute', { body: '{"attribute":"email"}' }, 400],
    ['no attribute', { body: '{}' }, 400],
    ['no JSON', { body: 'attribute=username' }, 400],
    ['another content type', { contentType: 'application/jsonp' }, 415],
  ])('refuses %s', async (_, options, status) => {
    await using simulator = await startSimulator();
    const response = await logIn(simulator, options);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual(failed);
  });
});

describe('tokens', () => {
  it.each([
    ['no Authorization header', {}],
    ['an unknown token', { Authorization: 'Bearer made-up' }],
    ['a Basic pair in place of a token', { Authorization: `Basic ${btoa('player:secret-password')}` }],
  ])('are demanded of profile and leagues: 401 for %s', async (_, headers) => {
    await using simulator = await startSimulator();
    for (const path of [PROFILE_PATH, LEAGUES_PATH]) {
      const response = await fetch(simulator.url + path, { headers });
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual(failed);
    }
  });

  it('serve up to the millisecond before their expiry', async () => {
    let now = Date.UTC(2026, 10, 20);
    await using simulator = await startSimulator({ tokenLifeMs: 5_000, now: () => now });
    const token = await takeToken(simulator);
    now += 4_999;
    expect((await get(simulator, LEAGUES_PATH, { token })).status).toBe(200);
    now += 1;
    expect((await get(simulator, LEAGUES_PATH, { token })).status).toBe(401);
    expect(simulator.requests.map((seen) => seen.token)).toEqual(['none', 'valid', 'expired']);
  });

  it('are unknown once revoked, and a new login helps', async () => {
    await using simulator = await startSimulator();
    const token = await takeToken(simulator);
    simulator.revokeTokens();
    expect((await get(simulator, LEAGUES_PATH, { token })).status).toBe(401);
    expect(simulator.requests.at(-1)?.token).toBe('unknown');
    expect((await get(simulator, LEAGUES_PATH, { token: await takeToken(simulator) })).status).toBe(200);
  });
});

describe('leagues', () => {
  it('are the bundled list by default, split in two by the filter', async () => {
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

  it('refuse another filter with 400', async () => {
    await using simulator = await startSimulator();
    const response = await get(simulator, `${LEAGUES_PATH}?status=retired`, { token: await takeToken(simulator) });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual(failed);
  });
});

describe('the record of requests', () => {
  it('holds what was asked and answered, and no secret', async () => {
    const heard: LoggedRequest[] = [];
    await using simulator = await startSimulator({ onRequest: (seen) => heard.push(seen), now: () => 1_000 });
    await logIn(simulator, { pair: 'player:wrong' });
    await fetch(simulator.url + LOGIN_PATH, { method: 'POST' });
    const token = await takeToken(simulator);
    await get(simulator, `${LEAGUES_PATH}?status=active`, { token });
    const login = { at: 1_000, method: 'POST', path: LOGIN_PATH, token: 'none' };
    expect(simulator.requests).toEqual([
      { ...login, status: 401, basic: 'refused' },
      { ...login, status: 401, basic: 'missing' },
      { ...login, status: 200, basic: 'accepted' },
      {
        at: 1_000,
        method: 'GET',
        path: `${LEAGUES_PATH}?status=active`,
        status: 200,
        token: 'valid',
        basic: undefined,
      },
    ]);
    expect(heard).toEqual(simulator.requests);
  });
});

type FaultCheck = (simulator: Simulator, token: string) => Promise<unknown>;

async function expectStatuses(simulator: Simulator, token: string, name: string): Promise<void> {
  const answers = [
    await logIn(simulator),
    await get(simulator, PROFILE_PATH, { token }),
    await get(simulator, LEAGUES_PATH, { token }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(STATUSES[name]);
  const failures = answers.filter(({ status }) => status > 302);
  for (const answer of failures) expect(await answer.json()).toEqual(failed);
  const [header = 'server', value = null] = HEADERS[name] ?? [];
  expect(answers.at(-1)?.headers.get(header)).toBe(value);
}

/** The statuses of login, profile and leagues under a fault. */
const STATUSES: Readonly<Record<string, readonly [number, number, number]>> = {
  down: [503, 503, 503],
  'login-down': [503, 200, 200],
  'login-refused': [401, 200, 200],
  'long-pause': [503, 503, 503],
  'profile-forbidden': [200, 403, 200],
  redirect: [200, 302, 302],
  'always-401': [200, 401, 401],
  'revoke-tokens': [200, 401, 401],
  'rate-limit': [200, 429, 429],
};

/** The list under a fault. */
const LISTS: Readonly<Record<string, (leagues: readonly Row[]) => readonly unknown[]>> = {
  'empty-list': () => [],
  'drop-third': (leagues) => leagues.filter((_, index) => index % 3 !== 2),
  'new-field': (leagues) => leagues.map((league) => ({ ...league, broadcast_partner: 'Example TV' })),
  duplicates: (leagues) => [...leagues, leagues[0], leagues[10], { ...leagues[1], league_name: 'League 1 (again)' }],
};

/** A header under a fault. */
const HEADERS: Readonly<Record<string, readonly [string, string]>> = {
  'long-pause': ['retry-after', '600'],
  'rate-limit': ['retry-after', '1'],
  redirect: ['location', 'https://elsewhere.example/login'],
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
  'result-fail': async (simulator, token) => {
    for (const path of [PROFILE_PATH, LEAGUES_PATH])
      expect(await (await get(simulator, path, { token })).json()).toEqual(failed);
  },
  'not-json': async (simulator, token) => {
    const response = await get(simulator, LEAGUES_PATH, { token });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(await response.text()).toMatch(/^<!doctype html>/);
  },
  'bad-rows': async (simulator, token) => {
    const leagues = await listRaw(simulator, token);
    const broken = leagues.filter((league) => !League.safeParse(league).success);
    expect(leagues).toHaveLength(20);
    expect(broken).toHaveLength(6);
    expect(broken[0]).not.toHaveProperty('league_name');
    expect(broken[1]).toMatchObject({ league_name: ['League 4'], priority: 'first' });
    expect(broken[2]).toBeTypeOf('string');
  },
  'born-expired': async (simulator) => {
    const login = LoginAnswer.parse(await (await logIn(simulator)).json());
    expect(Date.parse(login.expire_datetime)).toBeLessThan(Date.now());
    expect((await get(simulator, LEAGUES_PATH, { token: login.access_token })).status).toBe(200);
  },
  'wrong-clock': async (simulator) => {
    const response = await logIn(simulator);
    const { expire_datetime, access_token: token } = LoginAnswer.parse(await response.json());
    const leagues = await get(simulator, LEAGUES_PATH, { token });
    const { timestamp } = LeagueAnswer.parse(await leagues.json());
    const told = [response.headers.get('date'), leagues.headers.get('date'), timestamp];
    for (const instant of told) expect(Date.parse(String(instant)) - Date.now()).toBeGreaterThan(TWO_HOURS_MS - 5_000);
    expect(Date.parse(expire_datetime) - Date.now()).toBeGreaterThan(TWO_HOURS_MS + 3_600_000 - 5_000);
  },
  slow: async (simulator, token) => {
    const askedAt = performance.now();
    expect((await get(simulator, LEAGUES_PATH, { token })).status).toBe(200);
    expect(performance.now() - askedAt).toBeGreaterThan(SLOW_MS - 20);
  },
  'cut-body': async (simulator, token) => {
    const response = await get(simulator, LEAGUES_PATH, { token });
    const announced = Number(response.headers.get('content-length'));
    expect(announced).toBeGreaterThan(1_000);
    await expect(response.text()).rejects.toThrow('terminated');
    expect(simulator.requests.at(-1)?.status).toBeUndefined();
  },
  hang: async (simulator, token) => {
    const expected = { path: LEAGUES_PATH, status: undefined, token: 'valid' };
    await expectNoAnswer(
      (signal) => get(simulator, LEAGUES_PATH, { token, signal }),
      () => expect(simulator.requests.at(-1)).toMatchObject(expected),
    );
  },
  'webhook-500': async (simulator) => {
    expect((await sendWebhook(simulator)).status).toBe(500);
    expect(await readWebhooks(simulator)).toMatchObject([{ verified: true, status: 500 }]);
  },
  'webhook-410': async (simulator) => expect((await sendWebhook(simulator)).status).toBe(410),
  'webhook-hang': async (simulator) => {
    await expectNoAnswer(
      (signal) => sendWebhook(simulator, { signal }),
      async () => expect(await readWebhooks(simulator)).toMatchObject([{ verified: true, status: null }]),
    );
  },
};

/** Gives up only once the simulator has the request, which takes a loaded machine long. */
async function expectNoAnswer(
  send: (signal: AbortSignal) => Promise<Response>,
  hasArrived: () => void | Promise<void>,
): Promise<void> {
  const client = new AbortController();
  const answer = send(client.signal).then(
    () => 'answered',
    () => 'given up',
  );
  await vi.waitFor(hasArrived, { timeout: 10_000 });
  await sleep(100);
  client.abort();
  expect(await answer).toBe('given up');
}

describe('faults', () => {
  it.each(faults)('do what they say: $name: $description', async ({ name }) => {
    await using simulator = await startSimulator({ leagues: makeMixedLeagues(20) });
    const token = await takeToken(simulator);
    simulator.setFault(name, true);
    expect({ ...STATUSES, ...LISTS, ...faultChecks }).toHaveProperty(name);
    if (name in LISTS) expect(await listRaw(simulator, token)).toEqual(LISTS[name]?.(makeMixedLeagues(20)));
    if (name in STATUSES) await expectStatuses(simulator, token, name);
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

describe('churn', () => {
  it('changes something at every step, one to three leagues at most, and stays within bounds', () => {
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
});
