import {
  answers,
  apart,
  type Effect,
  everywhere,
  type Fault,
  fails,
  passes,
  refused,
  rejected,
  type SocketAction,
} from './fault.ts';

const FAIL = JSON.stringify({ result: 'fail', message: 'The service says no' });
const PAGE = '<!doctype html>\n<html><body><p>Please sign in.</p></body></html>\n';
/** A valid body that lacks `result: success`, so that as a login it fails. */
const withoutSuccess = (body: string | Uint8Array): string => body.toString().replace('"result":"success",', '');
const unsuccessful = (status: number): SocketAction => answers(({ body }) => ({ status, body: withoutSuccess(body) }));
/** Has the new leagues, which must not be stored. */
const failing = (status: number): SocketAction =>
  answers(({ headers, body }) => ({ status, headers, body: withoutSuccess(body).replace(/^\{/, '{"result":"fail",') }));
const bare = (status: number, more: Readonly<Record<string, string>> = {}): SocketAction =>
  answers(() => ({ status, headers: more, body: '' }));
const sends = (text: string | Uint8Array): SocketAction => answers(() => ({ body: text }));

const permanent = [400, 402, 404, 405, 409, 410, 418, 422, 451, 999].map((status): Fault => {
  return { name: `is answered ${status}`, effects: everywhere(fails('status', status)), act: unsuccessful(status) };
});
const rejecting = [401, 403].map((status): Fault => {
  const effects = apart(refused(status), rejected(status));
  return { name: `is answered ${status}`, effects, act: answers(() => ({ status })), revokes: true };
});
const passing = [408, 429, 500, 502, 503, 504, 599].map((status): Fault => {
  return { name: `is answered ${status}`, effects: everywhere(passes(status)), act: answers(() => ({ status })) };
});
const failingRejected = [200, 400, 401, 404].map((status): Fault => {
  const effects = apart(refused(status), rejected(status, status === 401 ? 'credentials' : 'status'));
  return { name: `is answered ${status} with result=fail`, effects, act: failing(status), revokes: true };
});
const failingPassing = [408, 429, 503].map((status): Fault => {
  return { name: `is answered ${status} with result=fail`, effects: everywhere(passes(status)), act: failing(status) };
});
const pausing = (status: number): Effect => ({ is: 'pauses', kind: 'status', status });
const retryAfter = (status: number, value: string, more: Partial<Fault> = {}): Fault => ({
  name: `is answered ${status} with Retry-After: ${value}`,
  effects: everywhere(passes(status)),
  act: answers(() => ({ status, headers: { 'retry-after': value }, body: FAIL })),
  ...more,
});

/** Statuses of failure, with bodies that look successful or failed. */
export const statusFaults: readonly Fault[] = [
  ...permanent,
  ...rejecting,
  ...passing,
  ...failingRejected,
  ...failingPassing,
  {
    name: 'is answered 503 with a page',
    effects: everywhere(passes(503)),
    act: answers(() => ({ status: 503, body: PAGE })),
  },
  retryAfter(429, '1', { spacingMs: 1_000 }),
  retryAfter(503, '2', { spacingMs: 2_000 }),
  retryAfter(503, 'Sat, 01 Jan 2000 00:00:00 GMT'),
  ...['soon', '-1', '1.5', '0x10', '1, 2', '2026-11-20'].map((value) => retryAfter(429, value)),
  retryAfter(503, '3600', { effects: everywhere(pausing(503)), pauseMs: 3_600_000 }),
  retryAfter(429, '99999999999', { effects: everywhere(pausing(429)), pauseMs: 24 * 3_600_000 }),
  {
    name: 'is answered 200 with result=fail and nothing else',
    effects: apart(refused(200), rejected(200, 'status')),
    act: sends(FAIL),
    revokes: true,
  },
  {
    name: 'is told unasked that nothing changed',
    effects: apart(fails('status', 304), fails('contract', 304)),
    act: bare(304),
  },
  {
    name: 'is answered 204',
    effects: everywhere(fails('contract', 204)),
    act: bare(204, { 'content-length': '' }),
  },
];

/** Redirects of every kind, with a valid body, to an address that is known when they are sent. */
export function redirects(name: string, locate: () => string): readonly Fault[] {
  return [301, 302, 303, 307, 308].map((status) => {
    const act = answers(({ body }) => ({ status, headers: { location: locate() }, body: withoutSuccess(body) }));
    return {
      name: `is redirected ${name} by ${status}`,
      effects: everywhere(fails('status', status)),
      act,
    };
  });
}
