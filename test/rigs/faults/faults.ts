import { gzipSync } from 'node:zlib';
import {
  answered,
  apart,
  BROKEN,
  bytes,
  CUT,
  type Effect,
  everywhere,
  type Fault,
  fails,
  HARMLESS,
  met,
  NO_ANSWER,
  OVERTIME,
  passes,
  resets,
  STALLED,
  stalls,
} from './fault.ts';
import { type Answer, render } from './response.ts';

const PAGE = '<!doctype html>\n<html><body><p>Please sign in.</p></body></html>\n';
const FAIL = JSON.stringify({ result: 'fail', message: 'The service says no' });

/** The same response with another header; an empty one is left out. */
const headed = ({ headers }: Answer, name: string, value: string): Partial<Answer> => ({
  headers: { ...headers, [name]: value },
});

// Faults below HTTP, and in its framing.

const DRIP_MS = 20;
const bodyAt = (whole: Buffer): number => whole.indexOf('\r\n\r\n') + 4;
const headers = (whole: Buffer): Buffer => whole.subarray(0, bodyAt(whole));
const half = (whole: Buffer): Buffer => whole.subarray(0, (bodyAt(whole) + whole.length) / 2);
const inHeaders = (whole: Buffer): Buffer => whole.subarray(0, 40);
/** A chunked response without its last chunk, which would mark its end. */
const chunked = ({ body, ...rest }: Answer, end: string): Partial<Answer> => ({
  headers: { ...rest.headers, 'content-length': '', 'transfer-encoding': 'chunked' },
  body: `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n${end}`,
});
const before = (head: string) => bytes((all) => Buffer.concat([Buffer.from(head), all]));
const hangs = true;

const wireFaults: readonly Fault[] = [
  { name: 'finds a closed port', effects: everywhere(BROKEN), refuses: true },
  {
    name: 'is reset as soon as it connects',
    effects: everywhere(BROKEN),
    atAccept: (socket) => socket.resetAndDestroy(),
  },
  met('is hung up on without a word', BROKEN, (socket) => void socket.end()),
  met('is reset in the middle of the headers', BROKEN, resets(inHeaders)),
  met('is left in the middle of the headers', BROKEN, bytes(inHeaders)),
  met('is reset in the middle of the body', CUT, resets(half)),
  met('is left in the middle of the body', CUT, bytes(half)),
  met(
    'is left a byte before the end',
    CUT,
    bytes((all) => all.subarray(0, -1)),
  ),
  // A status kept from the attempt before would show up here.
  met('is answered 503 and hung up on in turn', BROKEN, (socket, healthy, hit) => {
    socket.end(hit % 2 === 0 ? '' : render({ ...healthy, status: 503 }));
  }),
  met('is never answered', OVERTIME, () => undefined, { hangs }),
  met('gets headers and never a body', STALLED, stalls(headers), { hangs }),
  met('gets half a body and no more', STALLED, stalls(half), { hangs }),
  met(
    'gets its body byte by byte',
    STALLED,
    (socket, healthy) => {
      const body = Buffer.from(healthy.body);
      socket.write(headers(render(healthy)));
      let sent = 0;
      const timer = setInterval(() => {
        socket.write(body.subarray(sent, sent + 1));
        sent += 1;
      }, DRIP_MS);
      socket.on('close', () => clearInterval(timer));
    },
    { hangs },
  ),
  answered('gets a length longer than its body', CUT, (healthy) =>
    headed(healthy, 'content-length', String(healthy.body.length + 1_000)),
  ),
  answered('gets a length shorter than its body', NO_ANSWER, (healthy) => headed(healthy, 'content-length', '30')),
  answered('gets a length that is no number', BROKEN, (healthy) => headed(healthy, 'content-length', 'all')),
  answered('gets two lengths', BROKEN, (healthy) => headed(healthy, 'Content-Length', '2')),
  met(
    'is asked to speak another protocol',
    BROKEN,
    bytes(() => 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
  ),
  answered('gets all chunks but the last', CUT, (healthy) => chunked(healthy, '')),
  answered('gets a chunk that is cut', CUT, (healthy) => chunked(healthy, 'ff\r\n{')),
  answered('gets a chunk of no length', CUT, (healthy) => chunked(healthy, 'many\r\n')),
  answered('gets a chunked answer', HARMLESS, (healthy) => chunked(healthy, '0\r\n\r\n')),
  answered('gets an answer that ends with the connection', HARMLESS, (healthy) =>
    headed(healthy, 'content-length', ''),
  ),
  met(
    'gets garbage in place of HTTP',
    BROKEN,
    bytes(() => '220 mail.example.com ESMTP ready\r\n'),
  ),
  met(
    'gets noise in place of HTTP',
    BROKEN,
    bytes(() => Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46, 0x00, 0xff])),
  ),
  answered('gets headers larger than any that make sense', BROKEN, (healthy) =>
    headed(healthy, 'x-large', 'x'.repeat(100_000)),
  ),
  // The HTTP library treats this as a broken response, as no `Expect: 100-continue` was sent.
  met('is told to go on before its answer', BROKEN, before('HTTP/1.1 100 Continue\r\n\r\n')),
  met(
    'is given hints before its answer',
    HARMLESS,
    before('HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n'),
  ),
];

// What can go wrong with compression, and with sizes.

const zipped = (name: string, effect: Effect, encode: (body: Answer['body']) => Uint8Array, coding = 'gzip'): Fault =>
  answered(name, effect, (healthy) => ({
    ...headed(healthy, 'content-encoding', coding),
    body: encode(healthy.body),
  }));
const damaged = (zip: Buffer): Buffer => {
  zip[zip.length - 6] = (zip[zip.length - 6] ?? 0) ^ 0xff;
  return zip;
};

const codingFaults: readonly Fault[] = [
  zipped('gets a gzip answer', HARMLESS, gzipSync),
  zipped('gets a gzip answer that is damaged', CUT, (body) => damaged(gzipSync(body))),
  zipped('gets a gzip answer that is cut', CUT, (body) => gzipSync(body).subarray(0, -9)),
  zipped('gets plain text that says it is gzip', CUT, (body) => Buffer.from(body)),
  zipped('gets a gzip bomb', NO_ANSWER, () => gzipSync(Buffer.alloc(5_000_000, 0x20))),
  zipped('gets an encoding that was not accepted', NO_ANSWER, (body) => Buffer.from(body), 'zstd'),
  answered('gets more than the largest body', NO_ANSWER, ({ body }) => ({ body: `${body}${' '.repeat(200_000)}` })),
];

// Statuses of failure, with bodies that look successful or failed.

const refused = (status: number): Effect => ({ is: 'refused', kind: 'credentials', status });
const rejected = (status: number, kind: Effect['kind']): Effect => ({ is: 'rejected', kind, status });
const pausing = (status: number): Effect => ({ is: 'pauses', kind: 'status', status });
/** A valid body that lacks `result: success`, so that as a login it fails. */
const withoutSuccess = (body: Answer['body']): string => body.toString().replace('"result":"success",', '');
/** Has the new leagues, which must not be stored. */
const failing =
  (status: number) =>
  ({ body }: Answer): Partial<Answer> => ({
    status,
    body: withoutSuccess(body).replace(/^\{/, '{"result":"fail",'),
  });
const retryAfter = (status: number, value: string, more: Partial<Fault> = {}): Fault =>
  answered(
    `is answered ${status} with Retry-After: ${value}`,
    passes(status),
    () => ({ status, headers: { 'retry-after': value }, body: FAIL }),
    more,
  );

const statusFaults: readonly Fault[] = [
  ...[400, 402, 404, 405, 409, 410, 418, 422, 451, 999].map((status) =>
    answered(`is answered ${status}`, fails('status', status), ({ body }) => ({ status, body: withoutSuccess(body) })),
  ),
  ...[401, 403].map((status) =>
    answered(`is answered ${status}`, apart(refused(status), rejected(status, 'credentials')), () => ({ status }), {
      revokes: true,
    }),
  ),
  ...[408, 429, 500, 502, 503, 504, 599].map((status) =>
    answered(`is answered ${status}`, passes(status), () => ({ status })),
  ),
  ...[200, 400, 401, 404].map((status) =>
    answered(
      `is answered ${status} with result=fail`,
      apart(refused(status), rejected(status, status === 401 ? 'credentials' : 'status')),
      failing(status),
      { revokes: true },
    ),
  ),
  ...[408, 429, 503].map((status) =>
    answered(`is answered ${status} with result=fail`, passes(status), failing(status)),
  ),
  answered('is answered 503 with a page', passes(503), () => ({ status: 503, body: PAGE })),
  retryAfter(429, '1', { spacingMs: 1_000 }),
  retryAfter(503, '2', { spacingMs: 2_000 }),
  retryAfter(503, 'Sat, 01 Jan 2000 00:00:00 GMT'),
  ...['soon', '-1', '1.5', '0x10', '1, 2', '2026-11-20'].map((value) => retryAfter(429, value)),
  retryAfter(503, '3600', { effects: everywhere(pausing(503)), pauseMs: 3_600_000 }),
  retryAfter(429, '99999999999', { effects: everywhere(pausing(429)), pauseMs: 24 * 3_600_000 }),
  answered(
    'is answered 200 with result=fail and nothing else',
    apart(refused(200), rejected(200, 'status')),
    () => ({ body: FAIL }),
    { revokes: true },
  ),
  answered('is told unasked that nothing changed', apart(fails('status', 304), fails('contract', 304)), () => ({
    status: 304,
    headers: {},
    body: '',
  })),
  answered('is answered 204', fails('contract', 204), () => ({
    status: 204,
    headers: { 'content-length': '' },
    body: '',
  })),
];

// Complete responses with a status of success that violate the interface.

const body = (name: string, effect: Effect, edit: (sent: string) => Answer['body']): Fault =>
  answered(name, effect, (healthy) => ({ body: edit(healthy.body.toString()) }));
const change = (name: string, effects: Fault['effects'], edit: (sent: Record<string, unknown>) => object): Fault =>
  answered(name, effects, (healthy) => ({ body: JSON.stringify(edit(JSON.parse(healthy.body.toString()))) }));
const member = (name: string, effects: Fault['effects'], key: string, value: unknown): Fault =>
  change(name, effects, (sent) => ({ ...sent, [key]: value }));
const [LOGIN, LIST, PROFILE] = [{ login: NO_ANSWER }, { leagues: NO_ANSWER }, { profile: NO_ANSWER }];
const expiry = (name: string, expire_datetime: unknown, drift: readonly string[]): Fault => ({
  ...member(name, { login: HARMLESS }, 'expire_datetime', expire_datetime),
  drift,
});
const UNUSABLE = Array.from({ length: 9 }, (_, index) => ({ league_id: `n${index}` }));

const bodyFaults: readonly Fault[] = [
  body('gets an empty body', NO_ANSWER, () => ''),
  body('gets a page of HTML', NO_ANSWER, () => PAGE),
  body('gets text', NO_ANSWER, () => 'OK'),
  body('gets a list of JSON', NO_ANSWER, (sent) => `[${sent}]`),
  body('gets null', NO_ANSWER, () => 'null'),
  body('gets an object without anything', NO_ANSWER, () => '{}'),
  body('gets two answers in one', NO_ANSWER, (sent) => `${sent}${sent}`),
  body('gets JSON that is cut', NO_ANSWER, (sent) => sent.slice(0, -1)),
  body('gets invalid UTF-8', NO_ANSWER, (sent) => Buffer.from(`{"note":"\xff",${sent.slice(1)}`, 'latin1')),
  body('gets UTF-16', NO_ANSWER, (sent) => Buffer.from(`\uFEFF${sent}`, 'utf16le')),
  body('gets a byte order mark', HARMLESS, (sent) => `\uFEFF${sent}`),
  answered('gets JSON that calls itself a page', HARMLESS, (healthy) => headed(healthy, 'content-type', 'text/html')),
  member('gets no list', LIST, 'leagues', undefined),
  member('gets an object for its list', LIST, 'leagues', { l1: {} }),
  member('gets null for its list', LIST, 'leagues', null),
  member('gets a list that is mostly unusable', LIST, 'leagues', UNUSABLE),
  member('gets a list of texts', LIST, 'leagues', ['l1', 'l2']),
  member('gets no player', PROFILE, 'player', undefined),
  member('gets a list for its player', PROFILE, 'player', []),
  member('gets a player without an id', PROFILE, 'player', { username: 'someone' }),
  member('gets no token', LOGIN, 'access_token', undefined),
  member('gets an empty token', LOGIN, 'access_token', ''),
  member('gets a number for its token', LOGIN, 'access_token', 17),
  member('gets a token that no header can carry', LOGIN, 'access_token', 'one\r\nx-two: three'),
  member('gets no result', LOGIN, 'result', undefined),
  member('gets a result of its own', LOGIN, 'result', 'SUCCESS'),
  expiry('gets an unreadable expiry', 'tomorrow', ['login.expire_datetime unexpected-value']),
  expiry('gets a number for its expiry', 1_900_000_000, ['login.expire_datetime wrong-type']),
  expiry('gets no expiry', undefined, ['login.expire_datetime missing-field']),
  expiry('gets a token that has expired', '2001-01-01T00:00:00Z', []),
  expiry('gets a token for longer than clocks count', '9999-12-31T23:59:59Z', []),
];

/** Redirects of every kind, with a valid body, to an address that is known when they are sent. */
function redirects(name: string, locate: () => string): readonly Fault[] {
  return [301, 302, 303, 307, 308].map((status) =>
    answered(`is redirected ${name} by ${status}`, fails('status', status), ({ body }) => ({
      status,
      headers: { location: locate() },
      body: withoutSuccess(body),
    })),
  );
}

/** Every fault; redirects to another origin lead to the one that `otherOrigin` returns. */
export function listFaults(otherOrigin: () => string): readonly Fault[] {
  return [
    ...wireFaults,
    ...codingFaults,
    ...statusFaults,
    ...bodyFaults,
    ...redirects('to another origin', () => `${otherOrigin()}/events/v1/leagues/`),
    ...redirects('to another path', () => '/players/v1/players/player/me'),
  ];
}
