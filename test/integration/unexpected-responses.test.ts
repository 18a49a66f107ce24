import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { makeLeague } from '../support/leagues.ts';
import { fail, grantLogin, listLeagues, type Reply, startService } from '../support/service.ts';
import { openBench, setUpBench } from '../support/worker-resources.ts';

const GOOD = listLeagues([makeLeague('a')]);
/** A response whose body begins and never continues. */
const stalled =
  (status: number, headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-length': '1000', ...headers });
    response.write('{"result":"fail"');
  };
/** The timeout of an attempt that must time out, even on a busy machine. */
const SOON = { ATTEMPT_TIMEOUT: '2s' };

describe.concurrent('a failure whose body never ends counts by its head', () => {
  it('so that a login with 401 is refused, and tried once', async () => {
    await using bench = await setUpBench({ login: stalled(401) }, { settings: SOON });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'credentials' } });
    expect(bench.service.seen('login')).toHaveLength(1);
  });

  it('so that the next worker knows the Retry-After of a renewal, even after a stop', async () => {
    using folder = makeFolder();
    await using service = await startService();
    {
      await using bench = await openBench({ folder, url: service.url });
      await bench.poll();
    }
    service.script('login', stalled(503, { 'retry-after': '3600' }));
    {
      await using bench = await openBench({ folder, url: service.url });
      const asked = bench.place.session.token('leagues', new AbortController()).catch(() => undefined);
      await vi.waitUntil(() => bench.place.retryAfter.until() > 0, { timeout: 10_000 });
      // The worker is stopped while the body is still awaited.
      bench.stop();
      await asked;
    }
    const sent = service.requests.length;
    await using bench = await openBench({ folder, url: service.url });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 0, error: { kind: 'status' } });
    expect(service.requests).toHaveLength(sent);
  });

  it('but a success without its body is none', async () => {
    await using bench = await setUpBench({ leagues: stalled(200) }, { settings: { ...SOON, RUN_TIMEOUT: '30s' } });
    const report = await bench.poll();
    expect(report).toMatchObject({ outcome: 'failed', httpStatus: 200, error: { kind: 'timeout' } });
  });
});

/** Bytes in place of a response, and the end of the connection. */
const raw =
  (...lines: readonly string[]): Reply =>
  (response) => {
    response.socket?.end(lines.join('\r\n'));
  };
const BODY = '{"message":"ok","leagues":[],"timestamp":null}';
const CHUNKED = ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', BODY.length.toString(16), BODY];
const coded = (sent: string | Uint8Array): Reply => ({ headers: { 'content-encoding': 'gzip' }, body: sent });

/** What comes of a run whose first request is answered so, and that of any later request is healthy. */
const ANSWERS: readonly (readonly [name: string, reply: Reply, end: 'good' | 'retried' | 'status' | 'contract'])[] = [
  ['that ends within its headers', raw('HTTP/1.1 200 OK', 'content-len'), 'retried'],
  ['that changes the protocol', raw('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', '', ''), 'retried'],
  ['with two lengths', raw('HTTP/1.1 200 OK', 'content-length: 2', 'content-length: 3', '', '{} '), 'retried'],
  ['with enormous headers', raw('HTTP/1.1 200 OK', `x-large: ${'x'.repeat(100_000)}`, '', BODY), 'retried'],
  ['whose last chunk is missing', raw(...CHUNKED, ''), 'retried'],
  ['in chunks', raw(...CHUNKED, '0', '', ''), 'good'],
  ['that ends with its connection', raw('HTTP/1.1 200 OK', '', BODY), 'good'],
  ['after early hints', raw('HTTP/1.1 103 Early Hints', '', 'HTTP/1.1 200 OK', '', BODY), 'good'],
  ['that says it is gzip', coded(BODY), 'retried'],
  ['whose gzip is damaged', coded(gzipSync(BODY).fill(0, 12)), 'retried'],
  ['with 429 and result=fail', fail(429), 'retried'],
  ...[402, 999].map((status) => [`with ${status}`, { status, body: BODY }, 'status'] as const),
];

it.concurrent.each(ANSWERS)('an answer %s costs one run at most, and the next is good', async (_, reply, end) => {
  await using bench = await setUpBench({ leagues: [reply, listLeagues([])] });
  const isLost = end === 'status' || end === 'contract';
  const report = await bench.poll();
  expect(report).toMatchObject({ attempts: end === 'retried' ? 2 : 1, outcome: isLost ? 'failed' : 'unchanged' });
  expect(report.error?.kind).toBe(isLost ? end : undefined);
  if (isLost) expect(await bench.poll()).toMatchObject({ outcome: 'unchanged', attempts: 1 });
  expect(bench.service.seen('login')).toHaveLength(1);
});

describe.concurrent('a Retry-After', () => {
  const asksFor = (status: number, body: string): Reply => ({ status, headers: { 'retry-after': '3600' }, body });
  const FAIL = '{"result":"fail","message":"later"}';

  it.each(['leagues', 'login'] as const)('beside result=fail and 200 is kept to by all, at the %s', async (kind) => {
    await using bench = await setUpBench();
    bench.service.script(kind, asksFor(200, FAIL));
    expect(await bench.poll()).toMatchObject({ outcome: 'failed' });
    const sent = bench.service.requests.length;
    bench.place.session.retryNow();
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 0, error: { kind: 'status' } });
    expect(bench.service.requests).toHaveLength(sent);
  });

  it('of a 304 is known to the next worker', async () => {
    using folder = makeFolder();
    await using service = await startService();
    const { body = '' } = { body: '', ...(typeof GOOD === 'object' ? GOOD : {}) };
    service.script('leagues', { headers: { etag: '"1"' }, body }, asksFor(304, ''));
    {
      await using bench = await openBench({ folder, url: service.url });
      await bench.poll();
      expect(await bench.poll()).toMatchObject({ outcome: 'unchanged', httpStatus: 304 });
    }
    const sent = service.requests.length;
    await using bench = await openBench({ folder, url: service.url });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 0 });
    expect(service.requests).toHaveLength(sent);
  });

  it('is reported in the words of the failure, and ends when its row says, however slowly the body comes', async () => {
    await using bench = await setUpBench();
    bench.service.script('leagues', (response) => {
      response.writeHead(503, { 'retry-after': '3600' });
      response.write('{');
      setTimeout(() => response.end('}'), 300);
    });
    const { error } = await bench.poll();
    const [row] = bench.rows('SELECT not_before FROM runs');
    const inForce = bench.place.retryAfter.until();
    expect(Math.abs(Date.parse(String(row?.not_before)) - inForce)).toBeLessThan(50);
    const told = Date.parse(/called before (\S+) \(Retry-After\)/.exec(String(error?.message))?.[1] ?? '');
    expect(Math.abs(told - inForce)).toBeLessThan(50);
  });
});

it.each([
  ['percent-encoded', 'https://%61ccess-token-1.evil.example/'],
  ['broken by a tab', 'https://access-to\tken-1.evil.example/'],
])('a token in the host of a redirect is not repeated, %s', async (_, location) => {
  await using bench = await setUpBench({ login: grantLogin({ access_token: 'access-token-1' }) });
  bench.service.script('leagues', (response) => {
    response.socket?.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
  });
  const { error } = await bench.poll();
  expect(error?.message).toContain('was redirected (status 302), and redirects are not followed');
  expect(error?.message).not.toContain('access-token');
});

describe('a response of many tiny elements', () => {
  it('is refused, and not described element by element', async () => {
    const body = `{"message":"ok","leagues":[${'{},'.repeat(3_100_000)}{}],"timestamp":null}`;
    await using bench = await setUpBench({ leagues: { body } });
    const report = await bench.poll();
    expect(report).toMatchObject({ outcome: 'failed', attempts: 1, error: { kind: 'contract' } });
    expect(report.error?.message.length).toBeLessThan(1_000);
  });

  it('with unknown fields is read, and drift names some of them', async () => {
    const fields = Array.from({ length: 200_000 }, (_, nth) => `"field ${nth}":1`);
    await using bench = await setUpBench({
      leagues: { body: `{"message":"ok","leagues":[],"timestamp":null,${fields.join()}}` },
    });
    expect(await bench.poll()).toMatchObject({ outcome: 'unchanged' });
    expect(bench.rows('SELECT count(*) AS n FROM drift')).toEqual([{ n: 100 }]);
  });
});
