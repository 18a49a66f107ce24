import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EXIT, exitCodeOf } from '../../src/errors.ts';
import type { Row } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { fail, grantLogin, json, listLeagues, type Reply, reset, startService, trickle } from '../support/service.ts';
import { LONGEST_STOP_MS } from '../support/stopping.ts';
import { type Bench, lastRun, openBench, PASSWORD, setUpBench, USERNAME } from '../support/worker-resources.ts';

/** Waits until this many logins are recorded. */
async function loginsOf(bench: Bench, count: number): Promise<readonly Row[]> {
  const read = () => bench.rows('SELECT outcome, reason FROM logins ORDER BY id');
  for (let look = 0; look < 100 && read().length < count; look += 1) await sleep(10);
  return read();
}

const GOOD = listLeagues(makeLeagues(2));

describe.concurrent('the login', () => {
  it('is sent as the interface says, once for many polls', async () => {
    await using bench = await setUpBench();
    for (let time = 0; time < 3; time += 1) await bench.poll();
    await bench.pollProfile();
    const [request, ...others] = bench.service.seen('login');
    expect(others).toEqual([]);
    expect(request).toMatchObject({ method: 'POST', path: '/players/v1/authenticate/login' });
    expect(request?.headers['content-type']).toBe('application/json');
    expect(request?.headers.authorization).toBe(`Basic ${Buffer.from(`${USERNAME}:${PASSWORD}`).toString('base64')}`);
    expect(JSON.parse(request?.body ?? '')).toEqual({ attribute: 'username' });
    expect(await loginsOf(bench, 1)).toEqual([{ outcome: 'ok', reason: 'manual' }]);
  });

  it('has the pair in UTF-8, colons of the password included', async () => {
    await using bench = await setUpBench({}, { settings: { USERNAME: 'käthe', PASSWORD: 'a:b:ü' } });
    await bench.poll();
    const [, pair = ''] = bench.service.seen('login')[0]?.headers.authorization?.split(' ') ?? [];
    expect(Buffer.from(pair, 'base64').toString('utf8')).toBe('käthe:a:b:ü');
  });

  it('goes to a base URL with a path', async () => {
    using folder = makeFolder();
    await using service = await startService();
    await using bench = await openBench({ folder, url: `${service.url}/api/sports/` });
    expect(await bench.poll()).toMatchObject({ outcome: 'unchanged' });
    expect(service.requests.map(({ path }) => path)).toEqual([
      '/api/sports/players/v1/authenticate/login',
      '/api/sports/events/v1/leagues/',
    ]);
  });

  it.each([
    ['400 with result=fail', fail(400)],
    ['401', { status: 401 }],
    ['403 with success', json({ result: 'success', access_token: 'x' }, 403)],
    ['404 with result=fail', fail(404)],
    ['200 with result=fail', fail(200)],
  ])('answered with %s is refused: sent once, and not again by the next poll', async (_, reply) => {
    await using bench = await setUpBench({ login: reply });
    const { error } = await bench.poll();
    expect(error?.fix).toContain('check LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_PASSWORD');
    expect((await bench.poll()).error?.kind).toBe('credentials');
    expect(bench.service.requests).toHaveLength(1);
    expect(await loginsOf(bench, 1)).toEqual([{ outcome: 'refused', reason: 'manual' }]);
    expect(lastRun(bench)).toMatchObject({ outcome: 'failed', error_kind: 'credentials', attempts: 0 });
  });

  it.each<[string, Reply, 'status' | 'contract', string]>([
    ['404', { status: 404 }, 'status', 'was answered with status 404'],
    ['a page with 400', { status: 400, body: '<html>' }, 'status', 'was answered with status 400'],
    [
      'a page',
      { headers: { 'content-type': 'text/html' }, body: '<html>' },
      'contract',
      '(status 200, text/html) is an HTML page',
    ],
    ['JSON without a result', json({ access_token: 'x' }), 'contract', '(status 200, application/json) has no result'],
    [
      'a redirect to another server',
      { status: 301, headers: { location: 'https://api.example.com/login?next=1' } },
      'status',
      'was redirected (status 301) to https://api.example.com/login, and redirects',
    ],
    [
      'a redirect within the server',
      { status: 302, headers: { location: '/login' } },
      'status',
      '/login, and redirects',
    ],
  ])('answered with %s is not sent again by the next poll, and names the address', async (_, reply, kind, told) => {
    await using bench = await setUpBench({ login: reply });
    const { error } = await bench.poll();
    expect(error).toMatchObject({ kind, fix: expect.stringContaining('LEAGUE_SYNC_BASE_URL') });
    expect(error?.message).toContain(`POST ${bench.service.url}/players/v1/authenticate/login`);
    expect(error?.message).toContain(told);
    const again = (await bench.poll()).error;
    expect(again?.message).toContain(`${error?.message} The next try is at `);
    expect(exitCodeOf(again)).toBe(EXIT.failed);
    expect(bench.service.requests).toHaveLength(1);
    expect(await loginsOf(bench, 1)).toEqual([{ outcome: 'failed', reason: 'manual' }]);
    expect(lastRun(bench)).toMatchObject({ outcome: 'failed', error_kind: kind, attempts: 0 });
    expect(bench.rows("SELECT what FROM attention WHERE what LIKE 'credentials%'")).toEqual([]);
  });

  it.each([
    ['503 with result=fail', fail(503)],
    ['a broken connection', reset()],
  ])('answered with %s is retried', async (_, reply) => {
    await using bench = await setUpBench({ login: [reply, grantLogin()] });
    expect(await bench.poll()).toMatchObject({ outcome: 'unchanged', attempts: 1 });
    expect(await loginsOf(bench, 2)).toEqual([
      { outcome: 'failed', reason: 'manual' },
      { outcome: 'ok', reason: 'manual' },
    ]);
  });

  it('without a token in its answer fails the run', async () => {
    await using bench = await setUpBench({ login: json({ result: 'success' }) });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'contract' } });
  });

  it('with an unreadable expiry succeeds and is drift', async () => {
    await using bench = await setUpBench({
      login: grantLogin({ expire_datetime: 'tomorrow', surprise: 1, refresh_token: undefined }),
    });
    expect(await bench.poll()).toMatchObject({ outcome: 'unchanged' });
    await bench.poll();
    expect(bench.service.seen('login')).toHaveLength(1);
    expect(bench.rows('SELECT field, kind FROM drift ORDER BY field')).toEqual([
      { field: 'login.expire_datetime', kind: 'unexpected-value' },
      { field: 'login.refresh_token', kind: 'missing-field' },
      { field: 'login.surprise', kind: 'unknown-field' },
    ]);
  });

  it.each([
    [{ access_token: 'aB9+'.repeat(5_000) }, 'contract'],
    [{ access_token: 'aB9+ aB9+' }, 'contract'],
    [{ refresh_token: 'aB9+'.repeat(500_000) }, null],
  ])('is not harmed by an unusable token, and quotes none (case %#)', async (tokens, error_kind) => {
    await using bench = await setUpBench({ login: grantLogin(tokens) });
    await bench.poll();
    expect(lastRun(bench)).toMatchObject({ error_kind });
    expect(JSON.stringify(bench.rows('SELECT error_message FROM runs'))).not.toContain('aB9');
  });

  it('whose secret cannot be read has failed without a rejection by the service', async () => {
    using folder = makeFolder();
    const file = folder.file('secret');
    writeFileSync(file, 'the password');
    await using bench = await setUpBench({}, { folder, settings: { PASSWORD: '', PASSWORD_FILE: file } });
    rmSync(file);
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'credentials' } });
    expect(await loginsOf(bench, 1)).toEqual([{ outcome: 'failed', reason: 'manual' }]);
    expect(bench.service.requests).toEqual([]);
  });

  it('has its tokens taken out of what is stored, but no word that is the password', async () => {
    const tokens = { access_token: 'token-abc-123', refresh_token: 'renewal-abc-123' };
    await using bench = await setUpBench({ login: grantLogin(tokens) });
    await bench.pollWith([makeLeague('a', { city: 'token-abc-123, renewal-abc-123', state: PASSWORD })]);
    expect(bench.rows('SELECT city, state FROM leagues')).toEqual([{ city: '[secret], [secret]', state: PASSWORD }]);
  });
});

describe.concurrent('a rejected token', () => {
  it.each([
    ['401', { status: 401 }],
    ['403', { status: 403 }],
    ['200 with result=fail', fail(200)],
    ['404 with result=fail', fail(404)],
    ['400 with result=fail', fail(400)],
  ])('(%s) is replaced by one login, and the request is repeated once', async (_, reply) => {
    await using bench = await setUpBench({ leagues: [reply, GOOD] });
    expect(await bench.poll()).toMatchObject({ outcome: 'changed', attempts: 2, counts: { added: 2 } });
    const asked = bench.service.requests.map(({ path }) => path.split('/').at(1));
    expect(asked).toEqual(['players', 'events', 'players', 'events']);
    const [first, second] = bench.service.seen('leagues').map(({ headers }) => headers.authorization);
    expect(first).not.toBe(second);
    expect(await loginsOf(bench, 2)).toEqual([
      { outcome: 'ok', reason: 'manual' },
      { outcome: 'ok', reason: 'rejected-token' },
    ]);
  });

  it('that gets result=fail although it is fresh is kept: the service fails, in its own words', async () => {
    await using bench = await setUpBench({ leagues: fail(200) });
    for (let time = 0; time < 3; time += 1) {
      const { error } = await bench.poll();
      expect(error?.message).toMatch(/with a failure \(status 200, result=fail\).* It says: "failed with 200"\.$/);
      expect(exitCodeOf(error)).toBe(EXIT.failed);
    }
    expect(bench.service.seen('login')).toHaveLength(2);
    const [, ...later] = bench.service.seen('leagues').map(({ authorization }) => authorization);
    expect(new Set(later).size).toBe(1);
    expect(bench.rows('SELECT attempts, error_kind, service_message FROM runs WHERE id > 1')).toEqual(
      Array(2).fill({ attempts: 1, error_kind: 'status', service_message: 'failed with 200' }),
    );
    bench.service.script('leagues', fail(401), GOOD);
    expect(await bench.poll()).toMatchObject({ outcome: 'changed', attempts: 2 });
  });
});

describe.concurrent('a transient failure', () => {
  it('four times in a row fails the run, with the words of the service', async () => {
    await using bench = await setUpBench({ leagues: fail(503) });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 4, error: { kind: 'status' } });
    expect(bench.service.seen('leagues')).toHaveLength(4);
    expect(lastRun(bench)).toMatchObject({
      attempts: 4,
      http_status: 503,
      error_kind: 'status',
      service_message: 'failed with 503',
      not_before: null,
    });
  });

  it('of the connection has no status of the attempt before in its row', async () => {
    await using bench = await setUpBench({ leagues: [fail(503), reset()] });
    await bench.poll();
    expect(lastRun(bench)).toMatchObject({ http_status: null, body_bytes: null, error_kind: 'network' });
  });
});

describe.concurrent('Retry-After', () => {
  it('past the run, after a shorter one, fails it, is stored, and nothing is sent by any later run', async () => {
    await using bench = await setUpBench({ leagues: [fail(503, { 'retry-after': ['0', '3600'] }), GOOD] });
    const before = Date.now();
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 1, error: { kind: 'status' } });
    const notBefore = Date.parse(String(lastRun(bench).not_before));
    expect(Math.abs(notBefore - before - 3_600_000)).toBeLessThan(60_000);
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 0 });
    expect(await bench.pollProfile()).toMatchObject({ outcome: 'failed', attempts: 0 });
    expect(bench.service.requests).toHaveLength(2);
    // The error and the stored Retry-After are each calculated from their own reading of the clock.
    expect(Math.abs(Date.parse(String(lastRun(bench).not_before)) - notBefore)).toBeLessThan(1_000);
  });

  it('of one service says nothing about another', async () => {
    using folder = makeFolder();
    await using one = await startService();
    await using other = await startService();
    one.script('leagues', fail(503, { 'retry-after': '3600' }));
    {
      await using bench = await openBench({ folder, url: one.url });
      await bench.poll();
    }
    await using bench = await openBench({ folder, url: other.url });
    expect(await bench.poll()).toMatchObject({ outcome: 'unchanged' });
  });
});

it.concurrent.each([301, 308])('a redirect (%i) is not followed, and reaches no other server', async (status) => {
  await using other = await startService();
  const location = `${other.url}/events/v1/leagues/?secret=x`;
  await using bench = await setUpBench({ leagues: { status, headers: { location } } });
  expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 1, error: { kind: 'status' } });
  expect(other.requests).toEqual([]);
  expect(lastRun(bench)).toMatchObject({ http_status: status });
  expect(String(lastRun(bench).error_message)).toContain(other.url);
  expect(String(lastRun(bench).error_message)).not.toContain('secret=x');
});

describe.concurrent('a body', () => {
  it.each([
    [503, 1, { outcome: 'changed', attempts: 2 }],
    [401, 2, { outcome: 'changed', attempts: 2 }],
    [200, 1, { outcome: 'failed', attempts: 1, error: { kind: 'contract' } }],
  ])('that cannot be read does not hide the status %i', async (status, logins, report) => {
    const unreadable: Reply = { status, headers: { 'content-encoding': 'zstd' }, body: 'x' };
    await using bench = await setUpBench({ leagues: [unreadable, GOOD] });
    expect(await bench.poll()).toMatchObject(report);
    expect(bench.service.seen('login')).toHaveLength(logins);
  });

  it.each<[string, Reply, RegExp]>([
    ['that is not JSON', { body: 'leagues: none' }, /not a JSON object/],
    ['of an unknown encoding', { body: '{"leagues":[]}', headers: { 'content-encoding': 'zstd' } }, /not requested/],
  ])('%s fails the run at once', async (_, reply, message) => {
    await using bench = await setUpBench({ leagues: reply });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 1, error: { kind: 'contract' } });
    expect(String(lastRun(bench).error_message)).toMatch(message);
    expect(lastRun(bench)).toMatchObject({ error_kind: 'contract', received: 0 });
  });

  it.each<[string, (text: string) => Uint8Array]>([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['GZIP', gzipSync],
    ['identity', (text) => Buffer.from(text)],
  ])('encoded as %s is decoded', async (encoding, encode) => {
    const text = JSON.stringify({ leagues: makeLeagues(20) });
    const reply = { headers: { 'content-encoding': encoding }, body: encode(text) };
    await using bench = await setUpBench({ leagues: reply });
    expect(await bench.poll()).toMatchObject({ outcome: 'changed', counts: { added: 20 } });
    expect(lastRun(bench).body_bytes).toBe(Buffer.byteLength(text));
  });

  it('over the limit as soon as it is decoded fails the run', async () => {
    const bomb = { body: gzipSync(Buffer.alloc(5_000_000, 0x20)), headers: { 'content-encoding': 'gzip' } };
    await using bench = await setUpBench({ leagues: bomb }, { settings: { MAX_BODY: '1MB' } });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', attempts: 1, error: { kind: 'contract' } });
    expect(String(lastRun(bench).error_message)).toContain('LEAGUE_SYNC_MAX_BODY');
  });
});

describe.concurrent('a deadline', () => {
  it('ends an attempt with a body that trickles, which is then retried', async () => {
    await using bench = await setUpBench({ leagues: [trickle(20), GOOD] }, { settings: { ATTEMPT_TIMEOUT: '2s' } });
    expect(await bench.poll()).toMatchObject({ outcome: 'changed', attempts: 2 });
  });

  it.each(['leagues', 'login'] as const)('is not spent on %s that hang when the worker stops', async (kind) => {
    await using bench = await setUpBench();
    let stoppedAt = 0;
    bench.service.script(kind, () => {
      stoppedAt = performance.now();
      bench.stop();
    });
    const report = await bench.poll();
    expect(report.outcome).toBe('interrupted');
    expect(performance.now() - stoppedAt).toBeLessThan(LONGEST_STOP_MS);
  });
});
