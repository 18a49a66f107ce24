import { answers, everywhere, type Fault, fails, harmless, harmlessLogin, type SocketAction } from './fault.ts';

const PAGE = '<!doctype html>\n<html><body><p>Please sign in.</p></body></html>\n';
const sends = (text: string | Uint8Array): SocketAction => answers(() => ({ body: text }));
/** Neither a login response nor a list, with a status of success. */
const NOT_AN_ANSWER: Fault['effects'] = everywhere(fails('contract', 200));

const change = (name: string, edit: (sent: Record<string, unknown>) => object, effects: Fault['effects']): Fault => ({
  name,
  effects,
  act: answers((healthy) => ({ body: JSON.stringify(edit(JSON.parse(healthy.body.toString()))) })),
});
const list = (name: string, leagues: unknown): Fault =>
  change(name, (sent) => ({ ...sent, leagues }), { leagues: fails('contract', 200) });
const profile = (name: string, player: unknown): Fault =>
  change(name, (sent) => ({ ...sent, player }), { profile: fails('contract', 200) });
const token = (name: string, access_token: unknown): Fault =>
  change(name, (sent) => ({ ...sent, access_token }), { login: fails('contract', 200) });
const expiry = (name: string, expire_datetime: unknown, drift: readonly string[]): Fault => ({
  ...change(name, (sent) => ({ ...sent, expire_datetime }), harmlessLogin),
  drift,
});
const UNUSABLE = Array.from({ length: 9 }, (_, index) => ({ league_id: `n${index}` }));

/** Complete responses with a status of success that violate the interface. */
export const bodyFaults: readonly Fault[] = [
  { name: 'gets an empty body', effects: NOT_AN_ANSWER, act: sends('') },
  { name: 'gets a page of HTML', effects: NOT_AN_ANSWER, act: sends(PAGE) },
  { name: 'gets text', effects: NOT_AN_ANSWER, act: sends('OK') },
  { name: 'gets a list of JSON', effects: NOT_AN_ANSWER, act: answers(({ body: sent }) => ({ body: `[${sent}]` })) },
  { name: 'gets null', effects: NOT_AN_ANSWER, act: sends('null') },
  { name: 'gets an object without anything', effects: NOT_AN_ANSWER, act: sends('{}') },
  {
    name: 'gets two answers in one',
    effects: NOT_AN_ANSWER,
    act: answers(({ body: sent }) => ({ body: `${sent}${sent}` })),
  },
  {
    name: 'gets JSON that is cut',
    effects: NOT_AN_ANSWER,
    act: answers(({ body: sent }) => ({ body: sent.slice(0, -1) })),
  },
  {
    name: 'gets invalid UTF-8',
    effects: NOT_AN_ANSWER,
    act: answers(({ body: sent }) => ({ body: Buffer.from(`{"note":"\xff",${sent.slice(1)}`, 'latin1') })),
  },
  {
    name: 'gets UTF-16',
    effects: NOT_AN_ANSWER,
    act: answers(({ body: sent }) => ({ body: Buffer.from(`\uFEFF${sent}`, 'utf16le') })),
  },
  { name: 'gets a byte order mark', effects: harmless, act: answers(({ body: sent }) => ({ body: `\uFEFF${sent}` })) },
  {
    name: 'gets JSON that calls itself a page',
    effects: harmless,
    act: answers(({ headers }) => ({ headers: { ...headers, 'content-type': 'text/html' } })),
  },
  change('gets no list', ({ leagues: _, ...rest }) => rest, { leagues: fails('contract', 200) }),
  list('gets an object for its list', { l1: {} }),
  list('gets null for its list', null),
  list('gets a list that is mostly unusable', UNUSABLE),
  list('gets a list of texts', ['l1', 'l2']),
  change('gets no player', ({ player: _, ...rest }) => rest, { profile: fails('contract', 200) }),
  profile('gets a list for its player', []),
  profile('gets a player without an id', { username: 'someone' }),
  change('gets no token', ({ access_token: _, ...rest }) => rest, { login: fails('contract', 200) }),
  token('gets an empty token', ''),
  token('gets a number for its token', 17),
  token('gets a token that no header can carry', 'one\r\nx-two: three'),
  change('gets no result', ({ result: _, ...rest }) => rest, { login: fails('contract', 200) }),
  change('gets a result of its own', (sent) => ({ ...sent, result: 'SUCCESS' }), { login: fails('contract', 200) }),
  expiry('gets an unreadable expiry', 'tomorrow', ['login.expire_datetime unexpected-value']),
  expiry('gets a number for its expiry', 1_900_000_000, ['login.expire_datetime wrong-type']),
  expiry('gets no expiry', undefined, ['login.expire_datetime missing-field']),
  expiry('gets a token that has expired', '2001-01-01T00:00:00Z', []),
  expiry('gets a token for longer than clocks count', '9999-12-31T23:59:59Z', []),
];
