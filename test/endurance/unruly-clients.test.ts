import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { EVERY_SECOND, setUp } from '../support/bench.ts';
import { openLine, type Served, serve } from '../support/status-server.ts';

const HOST = 'Host: 127.0.0.1\r\n\r\n';
const STACK = /^\s+at |node:internal|\.cjs:/m;

/** A worker that polls every second. */
async function startServed(): Promise<Served> {
  return serve(await setUp(), { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
}

/** Expects a responsive worker that polls and has reported no error. */
async function expectUndisturbed({ bench, worker, url }: Served): Promise<void> {
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  await worker.waitForPoll('unchanged');
  const { code, stderr } = await worker.stop();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(bench.rows("SELECT count(*) AS n FROM runs WHERE outcome = 'failed'")).toEqual([{ n: 0 }]);
  expect(worker.log().filter(({ level, msg }) => Number(level) >= 40 && /status page/.test(String(msg)))).toEqual([]);
}

describe('a client of the probes', () => {
  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'TRACE'])(
    'that asks by %s is told that there is nothing but reading',
    async (method) => {
      const { port } = await startServed();
      const line = await openLine(port, `${method} /livez HTTP/1.1\r\nConnection: close\r\n${HOST}`);
      const heard = await line.waitForClose();
      expect(heard).toMatch(/^HTTP\/1\.1 405 /);
      expect(heard).toMatch(/^allow: GET, HEAD\r$/im);
      expect(heard).not.toMatch(STACK);
    },
  );

  it.each([
    { path: '/../../etc/passwd', status: 404 },
    { path: '/%2e%2e/%2e%2e/etc/passwd', status: 404 },
    { path: '/livez%00', status: 404 },
    { path: '/%zz', status: 404 },
    { path: '/livez/../../readyz/..%2f', status: 404 },
    { path: '//elsewhere.example/livez', status: 404 },
    { path: '/.env', status: 404 },
    { path: '/data/leagues.db', status: 404 },
    { path: `/${'a'.repeat(12_000)}`, status: 404 },
    { path: `/${'a'.repeat(100_000)}`, status: 431 },
    { path: 'livez', status: 400 },
    { path: 'http://[/livez', status: 400 },
  ])('that asks for $path is answered with $status', async ({ path, status }) => {
    const served = await startServed();
    const line = await openLine(served.port, `GET ${path} HTTP/1.1\r\nConnection: close\r\n${HOST}`);
    const heard = await line.waitForClose();
    expect(heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    // Node rejects invalid HTTP without our headers.
    if (status !== 431 && path !== 'livez') expect(heard).toMatch(/^X-Content-Type-Options: nosniff\r$/m);
    expect(heard).not.toMatch(/root:|SQLite format|secret-password/);
    expect(heard).not.toMatch(STACK);
    await expectUndisturbed(served);
  });

  it.each<readonly [string, string | Buffer, RegExp]>([
    ['100 kB of one header', `GET /livez HTTP/1.1\r\nX: ${'a'.repeat(100_000)}\r\n${HOST}`, /^HTTP\/1\.1 431 /],
    ['thousands of headers', `GET /livez HTTP/1.1\r\n${'A: b\r\n'.repeat(16_000)}${HOST}`, /^HTTP\/1\.1 431 /],
    [
      'a Host that is none',
      'GET /livez HTTP/1.1\r\nConnection: close\r\nHost: a b/c@:99999\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    ['no Host', 'GET /livez HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['garbage', Buffer.from([0, 1, 2, 255, 13, 10, 13, 10]), /^HTTP\/1\.1 400 /],
    ['the hello of TLS', Buffer.from('160301020001000001fc0303', 'hex'), /^HTTP\/1\.1 400 /],
    ['two lengths', `GET / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n${HOST}`, /^HTTP\/1\.1 400 /],
    ['HTTP/1.0 without a Host', 'GET /livez HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 200 .*\{"live":true\}$/s],
    ['CONNECT', `CONNECT elsewhere.example:443 HTTP/1.1\r\n${HOST}`, /^$/],
  ])('that sends %s is answered, and dropped', async (_, says, answer) => {
    const served = await startServed();
    const heard = await (await openLine(served.port, says)).waitForClose();
    expect(heard).toMatch(answer);
    expect(heard).not.toMatch(STACK);
    await expectUndisturbed(served);
  });

  it('that sends several requests at once is answered in order', async () => {
    const served = await startServed();
    const ask = (path: string): string => `GET ${path} HTTP/1.1\r\n${HOST}`;
    const line = await openLine(served.port, ['/livez', '/nothing', '/livez'].map(ask).join(''));
    const heard = await line.waitFor(/(HTTP\/1\.1 .*){3}\{"live":true\}$/s);
    expect([...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '404', '200']);
    await expectUndisturbed(served);
  });

  it('that sends a byte a second of its headers or its body, or none, is dropped', async () => {
    const served = await startServed();
    const slow = [
      await openLine(served.port),
      await openLine(served.port, `GET /livez HTTP/1.1\r\nContent-Length: 100\r\n${HOST}`),
    ];
    const silent = await openLine(served.port);
    for (const byte of `GET /livez HTTP/1.1\r\nX-Slow: ${'a'.repeat(100)}`) {
      if (slow.every((line) => line.isClosed())) break;
      for (const { socket } of slow) socket.write(byte);
      await wait(1_000);
    }
    expect(slow.map((line) => line.isClosed())).toEqual([true, true]);
    await silent.waitForClose();
    await expectUndisturbed(served);
  });

  it('is served beside 200 idle connections', async () => {
    const served = await startServed();
    const idle = await Promise.all(Array.from({ length: 200 }, () => openLine(served.port)));
    expect((await fetch(`${served.url}/livez`)).status).toBe(200);
    expect(idle.filter((line) => line.isClosed())).toEqual([]);
    await expectUndisturbed(served);
    await Promise.all(idle.map((line) => line.waitForClose()));
  });
});
