import { type Answer, type Endpoint, failure } from './endpoints.ts';
import * as mutations from './mutations.ts';
import type { TokenIssuer } from './tokens.ts';

/** How long the fault `slow` holds an answer back. */
export const SLOW_MS = 2_000;

const HTML_PAGE = '<!doctype html>\n<html><body><h1>Welcome</h1><p>Please come back later.</p></body></html>\n';

/** What a fault does. All faults that are on work together, in the table's order. */
type Effect = {
  /** The operations that it concerns; by default all of them, and every other path. */
  readonly at?: readonly Endpoint[];
  /** Sent in place of what the service answers; of several, the first. */
  readonly instead?: Answer;
  /** Changes what is sent, whatever it comes from. */
  readonly mutate?: mutations.Mutation;
  /** Done at every switching on. */
  readonly onSwitchedOn?: (tokens: TokenIssuer) => void;
};

const LOGIN: readonly Endpoint[] = ['login'];
const PROFILE: readonly Endpoint[] = ['profile'];
const DATA: readonly Endpoint[] = ['profile', 'leagues'];

/** Every fault there is, in a sentence for `--help`. */
const descriptions = {
  down: 'Every request is answered 503.',
  'login-down': 'Logins are answered 503.',
  'login-refused': 'Logins are answered 401, whatever the credentials.',
  'revoke-tokens': 'Switching it on (again) revokes all tokens issued so far; new ones work.',
  'rate-limit': 'Profile and leagues are answered 429 with Retry-After: 1.',
  'long-pause': 'Every request is answered 503 with Retry-After: 600.',
  'profile-forbidden': 'The profile is answered 403, whatever the token.',
  redirect: 'Profile and leagues are answered 302 with an address of another origin.',
  'always-401': 'Profile and leagues are answered 401, even with a fresh token.',
  'result-fail': 'Profile and leagues are answered 200 with result=fail.',
  'not-json': 'Profile and leagues are answered 200 with an HTML page.',
  'empty-list': 'The list of leagues is empty.',
  'drop-third': 'Every third league is left out.',
  'bad-rows': 'Three leagues in ten are broken: without a name, with wrong types, not an object.',
  'new-field': 'Every league carries a field that the interface does not name.',
  duplicates: 'Every tenth league comes twice, and one comes again under another name.',
  shuffle: 'Leagues, and the keys inside them, come in another order at every answer.',
  etag: 'The list carries an ETag, and a client that has this version is answered 304.',
  'born-expired': 'Logins say that the token expired a minute ago, though it works.',
  'wrong-clock': 'Date, expire_datetime and timestamp are two hours ahead; tokens live as long as ever.',
  slow: 'Every answer comes after 2 s.',
  'cut-body': 'Answers to profile and leagues break off after half of the announced body.',
  flapping: 'Every other request, by chance, is hung up on.',
  hang: 'Every request is accepted and never answered.',
};

const effects: Readonly<Record<keyof typeof descriptions, Effect>> = {
  down: { instead: failure(503, 'Service unavailable') },
  'login-down': { at: LOGIN, instead: failure(503, 'Service unavailable') },
  'login-refused': { at: LOGIN, instead: failure(401, 'Invalid username or password') },
  'revoke-tokens': { onSwitchedOn: (tokens) => tokens.revokeAll() },
  'rate-limit': { at: DATA, instead: failure(429, 'Too many requests', { 'Retry-After': '1' }) },
  'long-pause': { instead: failure(503, 'Down for maintenance', { 'Retry-After': '600' }) },
  'profile-forbidden': { at: PROFILE, instead: failure(403, 'Not for this account') },
  redirect: { at: DATA, instead: { status: 302, headers: { Location: 'https://elsewhere.example/login' } } },
  'always-401': { at: DATA, instead: failure(401, 'Access token missing, unknown or expired') },
  'result-fail': { at: DATA, instead: failure(200, 'Request failed') },
  'not-json': { at: DATA, instead: { status: 200, body: HTML_PAGE } },
  'empty-list': { mutate: mutations.emptyList },
  'drop-third': { mutate: mutations.dropThird },
  'bad-rows': { mutate: mutations.breakRows },
  'new-field': { mutate: mutations.addField },
  duplicates: { mutate: mutations.duplicateSome },
  shuffle: { mutate: mutations.shuffleLeagues },
  etag: { mutate: mutations.tagList },
  'born-expired': { mutate: mutations.tellExpired },
  'wrong-clock': { mutate: mutations.tellWrongTime },
  slow: { mutate: (answer) => ({ ...answer, delayMs: SLOW_MS }) },
  'cut-body': { at: DATA, mutate: (answer) => ({ ...answer, delivery: 'cut' }) },
  flapping: { mutate: (answer, { random }) => (random() < 0.5 ? { ...answer, delivery: 'hung-up' } : answer) },
  hang: { mutate: (answer) => ({ ...answer, delivery: 'never' }) },
};

export const faults = Object.entries(descriptions).map(([name, description]) => {
  const effect: Effect = effects[name as keyof typeof effects];
  return { name, description, ...effect };
});

export type FaultSwitches = ReturnType<typeof createFaultSwitches>;

/** Holds which faults are on. */
export function createFaultSwitches(tokens: TokenIssuer) {
  const on = new Set<string>();
  const activeFaults = () => faults.filter(({ name }) => on.has(name));
  return {
    /** Throws a RangeError, naming the known faults, if there is no such fault. */
    set(name: string, wanted: boolean): void {
      const fault = faults.find((known) => known.name === name);
      if (fault === undefined) {
        throw new RangeError(`no fault is called ${name}; known: ${Object.keys(descriptions).join(', ')}`);
      }
      on[wanted ? 'add' : 'delete'](name);
      if (wanted) fault.onSwitchedOn?.(tokens);
    },
    clear: () => on.clear(),
    /** The names of the faults that are on, in the table's order. */
    active: () => activeFaults().map(({ name }) => name),
    /** What the service answers after every fault that is on has had its way with it. */
    answer(endpoint: Endpoint, serve: () => Answer, context: mutations.Context): Answer {
      const concerned = activeFaults().filter(({ at }) => at?.includes(endpoint) ?? true);
      const answer = concerned.find(({ instead }) => instead !== undefined)?.instead ?? serve();
      return concerned.reduce((mutated, { mutate }) => mutate?.(mutated, context) ?? mutated, answer);
    },
  };
}
