import { type Endpoint, failResponse, type SimulatedResponse, type TokenIssuer } from './endpoints.ts';
import * as mutations from './mutations.ts';

export const SLOW_MS = 2_000;
const EXPIRED_AGO_MS = 60_000;

const HTML_PAGE = '<!doctype html>\n<html><body><h1>Welcome</h1><p>Please come back later.</p></body></html>\n';

/** All active faults apply together, in the order of `descriptions`. */
type Effect = {
  /** The endpoints that the fault affects; by default every path but that of webhooks. */
  readonly at?: readonly Endpoint[];
  /** Replaces the response of the service. If several active faults do so, the first one wins. */
  readonly instead?: SimulatedResponse;
  readonly mutate?: mutations.Mutation;
  readonly onSwitchedOn?: (tokens: TokenIssuer) => void;
};

// Webhooks are received by a service of their own, which can be well while this one fails.
const SERVICE: readonly Endpoint[] = ['login', 'profile', 'leagues', 'unknown'];
const LOGIN: readonly Endpoint[] = ['login'];
const DATA: readonly Endpoint[] = ['profile', 'leagues'];
const WEBHOOKS: readonly Endpoint[] = ['webhooks'];

/** Shown by `simulate --help` and by `GET /_faults`. */
const descriptions = {
  down: 'Every request but webhooks gets 503.',
  'login-down': 'Logins get 503.',
  'login-refused': 'Logins get 401, even with the right credentials.',
  'revoke-tokens': 'Revokes all tokens issued so far, each time it is switched on; new tokens work.',
  'rate-limit': 'Profile and leagues get 429 with Retry-After: 1.',
  'long-pause': 'Every request but webhooks gets 503 with Retry-After: 600.',
  'profile-forbidden': 'The profile gets 403, even with a valid token.',
  redirect: 'Profile and leagues get 302 to another origin.',
  'always-401': 'Profile and leagues get 401, even with a fresh token.',
  'result-fail': 'Profile and leagues get 200 with result=fail.',
  'not-json': 'Profile and leagues get 200 with an HTML page.',
  'empty-list': 'The list of leagues is empty.',
  'drop-third': 'Every third league is left out.',
  'bad-rows': 'Three in ten leagues are invalid: no name, wrong types, or not an object.',
  'new-field': 'Every league has an extra, undocumented field (broadcast_partner).',
  duplicates: 'Every tenth league is sent twice; one other league is sent again with a different name.',
  etag: 'The list has an ETag; a client that already has this version gets 304.',
  'born-expired': 'Logins say that the token expired a minute ago, but it works.',
  'wrong-clock': 'Date, expire_datetime and timestamp are two hours ahead; tokens live as long as before.',
  slow: 'Every response takes 2 s, but not to webhooks.',
  'cut-body': 'Profile and leagues responses end after half of the announced body.',
  flapping: 'For half of the requests but webhooks, chosen at random, the connection is closed without a response.',
  hang: 'Every request but webhooks is accepted and never answered.',
  'webhook-500': 'Webhooks get 500.',
  'webhook-410': 'Webhooks get 410: the receiver is gone for good.',
  'webhook-hang': 'Webhooks are recorded and never answered.',
};

const effects: Readonly<Record<keyof typeof descriptions, Effect>> = {
  down: { instead: failResponse(503, 'Service unavailable') },
  'login-down': { at: LOGIN, instead: failResponse(503, 'Service unavailable') },
  'login-refused': { at: LOGIN, instead: failResponse(401, 'Invalid username or password') },
  'revoke-tokens': { onSwitchedOn: (tokens) => tokens.revokeAll() },
  'rate-limit': { at: DATA, instead: failResponse(429, 'Too many requests', { 'Retry-After': '1' }) },
  'long-pause': { instead: failResponse(503, 'Down for maintenance', { 'Retry-After': '600' }) },
  'profile-forbidden': { at: ['profile'], instead: failResponse(403, 'Not for this account') },
  redirect: { at: DATA, instead: { status: 302, headers: { Location: 'https://elsewhere.example/login' } } },
  'always-401': { at: DATA, instead: failResponse(401, 'Access token missing, unknown or expired') },
  'result-fail': { at: DATA, instead: failResponse(200, 'Request failed') },
  'not-json': { at: DATA, instead: { status: 200, body: HTML_PAGE } },
  'empty-list': { mutate: mutations.mutateList(() => []) },
  'drop-third': { mutate: mutations.mutateList((leagues) => leagues.filter((_, index) => index % 3 !== 2)) },
  'bad-rows': { mutate: mutations.breakRows },
  'new-field': { mutate: mutations.mutateLeagues((league) => ({ ...league, broadcast_partner: 'Example TV' })) },
  duplicates: { mutate: mutations.duplicateSome },
  etag: { mutate: mutations.addEtag },
  'born-expired': { mutate: mutations.mutateTimes(['expire_datetime'], (_, { now }) => now - EXPIRED_AGO_MS) },
  'wrong-clock': { mutate: mutations.setWrongClock },
  slow: { mutate: (answer) => ({ ...answer, delayMs: SLOW_MS }) },
  'cut-body': { at: DATA, mutate: mutations.deliver('cut') },
  flapping: { mutate: (answer) => (Math.random() < 0.5 ? { ...answer, delivery: 'hung-up' } : answer) },
  hang: { mutate: mutations.deliver('never') },
  'webhook-500': { at: WEBHOOKS, instead: failResponse(500, 'Internal error') },
  'webhook-410': { at: WEBHOOKS, instead: failResponse(410, 'Gone') },
  'webhook-hang': { at: WEBHOOKS, mutate: mutations.deliver('never') },
};

export const faults = Object.entries(descriptions).map(([name, description]) => {
  const effect: Effect = effects[name as keyof typeof effects];
  return { name, description, ...effect };
});

export type FaultSwitches = ReturnType<typeof createFaultSwitches>;

type OnSwitched = (active: readonly string[]) => void;

/** Throws a RangeError for an unknown fault. */
export function createFaultSwitches(initial: readonly string[], tokens: TokenIssuer, onSwitched: OnSwitched) {
  const on = new Set<string>();
  const activeFaults = () => faults.filter(({ name }) => on.has(name));
  const active = () => activeFaults().map(({ name }) => name);
  const put = (name: string, wanted: boolean) => {
    const fault = faults.find((known) => known.name === name);
    if (fault === undefined)
      throw new RangeError(`unknown fault ${name}; known: ${Object.keys(descriptions).join(', ')}`);
    on[wanted ? 'add' : 'delete'](name);
    if (wanted) fault.onSwitchedOn?.(tokens);
  };
  for (const name of initial) put(name, true);
  return {
    active,
    set(name: string, wanted: boolean): void {
      put(name, wanted);
      onSwitched(active());
    },
    clear(): void {
      on.clear();
      onSwitched([]);
    },
    respond(endpoint: Endpoint, serve: () => SimulatedResponse, context: mutations.Context): SimulatedResponse {
      const concerned = activeFaults().filter(({ at = SERVICE }) => at.includes(endpoint));
      const response = concerned.find(({ instead }) => instead !== undefined)?.instead ?? serve();
      return concerned.reduce((mutated, { mutate }) => mutate?.(mutated, context) ?? mutated, response);
    },
  };
}

/** Handles `GET` and `DELETE /_faults`, `PUT` and `DELETE /_faults/NAME`. Returns undefined for every other path. */
export function respondToControl(method: string, path: string, switches: FaultSwitches): SimulatedResponse | undefined {
  const name = path.startsWith('/_faults/') ? path.slice('/_faults/'.length) : undefined;
  if (name === undefined && path !== '/_faults') return undefined;
  const allowed = name === undefined ? ['GET', 'DELETE'] : ['PUT', 'DELETE'];
  const list = allowed.join(', ');
  if (!allowed.includes(method)) return failResponse(405, `Use ${list} here`, { Allow: list });
  if (method === 'GET') {
    const known = Object.entries(descriptions).map(([name, description]) => ({ name, description }));
    return { status: 200, body: { active: switches.active(), known } };
  }
  if (name === undefined) switches.clear();
  else if (Object.hasOwn(descriptions, name)) switches.set(name, method === 'PUT');
  else return failResponse(404, `Unknown fault ${name}; GET /_faults lists all`);
  return { status: 204 };
}
