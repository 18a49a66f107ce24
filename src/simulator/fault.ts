import { type Alteration, alterList, tagList, tellExpired, tellWrongTime } from './alteration.ts';
import { type Answer, type Endpoint, failure } from './answer.ts';
import { addField, breakRows, dropThird, duplicateSome, shuffleLeagues } from './league-fault.ts';
import type { TokenIssuer } from './token.ts';

/** How long the fault `slow` holds an answer back. */
export const SLOW_MS = 2_000;

const HTML_PAGE = '<!doctype html>\n<html><body><h1>Welcome</h1><p>Please come back later.</p></body></html>\n';

/** A way in which the service goes wrong. The hooks of all faults that are on work together, in the table's order. */
type Fault = {
  readonly name: string;
  /** One sentence for `--help`. */
  readonly description: string;
  /** Done at every switching on. */
  readonly onSwitchedOn?: (tokens: TokenIssuer) => void;
  /** Answers in place of the service; undefined leaves the request to the next fault, at last to the service. */
  readonly instead?: (endpoint: Endpoint) => Answer | undefined;
  /** Changes what goes out, whoever made it. */
  readonly alter?: Alteration;
};

/** Every fault there is; a new one is one more entry. */
export const faults: readonly Fault[] = [
  {
    name: 'down',
    description: 'Every request is answered 503.',
    instead: () => failure(503, 'Service unavailable'),
  },
  {
    name: 'login-down',
    description: 'Logins are answered 503.',
    instead: atLogin(failure(503, 'Service unavailable')),
  },
  {
    name: 'login-refused',
    description: 'Logins are answered 401, whatever the credentials.',
    instead: atLogin(failure(401, 'Invalid username or password')),
  },
  {
    name: 'revoke-tokens',
    description: 'Switching it on (again) revokes all tokens issued so far; new ones work.',
    onSwitchedOn: (tokens) => tokens.revokeAll(),
  },
  {
    name: 'rate-limit',
    description: 'Profile and leagues are answered 429 with Retry-After: 1.',
    instead: atData(failure(429, 'Too many requests', { 'Retry-After': '1' })),
  },
  {
    name: 'long-pause',
    description: 'Every request is answered 503 with Retry-After: 600.',
    instead: () => failure(503, 'Down for maintenance', { 'Retry-After': '600' }),
  },
  {
    name: 'profile-forbidden',
    description: 'The profile is answered 403, whatever the token.',
    instead: (endpoint) => (endpoint === 'profile' ? failure(403, 'Not for this account') : undefined),
  },
  {
    name: 'redirect',
    description: 'Profile and leagues are answered 302 with an address of another origin.',
    instead: atData({ status: 302, headers: { Location: 'https://elsewhere.example/login' } }),
  },
  {
    name: 'always-401',
    description: 'Profile and leagues are answered 401, even with a fresh token.',
    instead: atData(failure(401, 'Access token missing, unknown or expired')),
  },
  {
    name: 'result-fail',
    description: 'Profile and leagues are answered 200 with result=fail.',
    instead: atData(failure(200, 'Request failed')),
  },
  {
    name: 'not-json',
    description: 'Profile and leagues are answered 200 with an HTML page.',
    instead: atData({ status: 200, body: HTML_PAGE }),
  },
  {
    name: 'empty-list',
    description: 'The list of leagues is empty.',
    alter: alterList(() => []),
  },
  {
    name: 'drop-third',
    description: 'Every third league is left out.',
    alter: alterList(dropThird),
  },
  {
    name: 'bad-rows',
    description: 'Three leagues in ten are broken: without a name, with wrong types, not an object.',
    alter: alterList(breakRows),
  },
  {
    name: 'new-field',
    description: 'Every league carries a field that the interface does not name.',
    alter: alterList(addField),
  },
  {
    name: 'duplicates',
    description: 'Every tenth league comes twice, and one comes again under another name.',
    alter: alterList(duplicateSome),
  },
  {
    name: 'shuffle',
    description: 'Leagues, and the keys inside them, come in another order at every answer.',
    alter: alterList(shuffleLeagues),
  },
  {
    name: 'etag',
    description: 'The list carries an ETag, and a client that has this version is answered 304.',
    alter: tagList,
  },
  {
    name: 'born-expired',
    description: 'Logins say that the token expired a minute ago, though it works.',
    alter: tellExpired,
  },
  {
    name: 'wrong-clock',
    description: 'Date, expire_datetime and timestamp are two hours ahead; tokens live as long as ever.',
    alter: tellWrongTime,
  },
  {
    name: 'slow',
    description: 'Every answer comes after 2 s.',
    alter: (answer) => ({ ...answer, delayMs: SLOW_MS }),
  },
  {
    name: 'cut-body',
    description: 'Answers to profile and leagues break off after half of the announced body.',
    alter: (answer, { endpoint }) => (isData(endpoint) ? { ...answer, delivery: 'cut' } : answer),
  },
  {
    name: 'flapping',
    description: 'Every other request, by chance, is hung up on.',
    alter: (answer, { random }) => (random() < 0.5 ? { ...answer, delivery: 'hung-up' } : answer),
  },
  {
    name: 'hang',
    description: 'Every request is accepted and never answered.',
    alter: (answer) => ({ ...answer, delivery: 'never' }),
  },
];

function isData(endpoint: Endpoint): boolean {
  return endpoint === 'profile' || endpoint === 'leagues';
}

function atLogin(answer: Answer): (endpoint: Endpoint) => Answer | undefined {
  return (endpoint) => (endpoint === 'login' ? answer : undefined);
}

function atData(answer: Answer): (endpoint: Endpoint) => Answer | undefined {
  return (endpoint) => (isData(endpoint) ? answer : undefined);
}
