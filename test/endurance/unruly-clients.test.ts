import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startServer, textResponse } from '../../src/observe/server.ts';
import { EVERY_SECOND, setUp } from '../support/bench.ts';
import { openLine, serve } from '../support/status-server.ts';

const HOST = 'Host: 127.0.0.1\r\n\r\n';
const STACK = /^\s+at |node:internal|\.cjs:/m;
/** Nothing of the machine, and nothing of the program. */
const TOLD = /root:|SQLite format|secret-password/;
/** More than the socket buffer of a reader that takes nothing. */
const LARGE_BYTES = 64_000_000;
/** Longer than the server waits for such a reader: Node checks twice before a connection counts as stalled. */
const PATIENCE_MS = 23_000;

/** Node rejects invalid HTTP without our headers. */
const OURS = 'X-Content-Type-Options: nosniff\r\n';
const PATHS: readonly (readonly [path: string, status: number, has?: string])[] = [
  ['/../../etc/passwd', 404, OURS],
  ['/livez%00', 404, OURS],
  ['/%zz', 404, OURS],
  ['//elsewhere.example/livez', 404, OURS],
  ['/.env', 404, OURS],
  [`/${'a'.repeat(12_000)}`, 404, OURS],
  [`/${'a'.repeat(100_000)}`, 431],
  ['livez', 400],
  ['http://[/livez', 400, OURS],
];

/** What a client sends before it waits for the end, and what it must hear. */
const REQUESTS: readonly (readonly [says: string | Buffer, answer: RegExp, has?: string])[] = [
  [`PROPFIND /livez HTTP/1.1\r\nConnection: close\r\n${HOST}`, /^HTTP\/1\.1 405 /, 'GET, HEAD'],
  ...PATHS.map(
    ([path, status, has = '']) =>
      [`GET ${path} HTTP/1.1\r\nConnection: close\r\n${HOST}`, new RegExp(`^HTTP/1\\.1 ${status} `), has] as const,
  ),
  [`GET /livez HTTP/1.1\r\nX: ${'a'.repeat(100_000)}\r\n${HOST}`, /^HTTP\/1\.1 431 /],
  [`GET /livez HTTP/1.1\r\n${'A: b\r\n'.repeat(16_000)}${HOST}`, /^HTTP\/1\.1 431 /],
  ['GET /livez HTTP/1.1\r\nConnection: close\r\nHost: a b/c@:99999\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['GET /livez HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
  [Buffer.from([0, 1, 2, 255, 13, 10, 13, 10]), /^HTTP\/1\.1 400 /],
  // The hello of TLS.
  [Buffer.from('160301020001000001fc0303', 'hex'), /^HTTP\/1\.1 400 /],
  [`GET / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n${HOST}`, /^HTTP\/1\.1 400 /],
  ['GET /livez HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 200 .*\{"live":true\}$/s],
  [`CONNECT elsewhere.example:443 HTTP/1.1\r\n${HOST}`, /^$/],
];

it('clients that send nonsense, send slowly, or say nothing are answered or dropped, and disturb nothing', async () => {
  const { bench, worker, url, port } = await serve(await setUp(), { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  const idle = await Promise.all(Array.from({ length: 200 }, () => openLine(port)));
  const slow = [await openLine(port), await openLine(port, `GET /livez HTTP/1.1\r\nContent-Length: 100\r\n${HOST}`)];
  for (const [says, answer, has = ''] of REQUESTS) {
    const what = says.toString().slice(0, 100);
    const heard = await (await openLine(port, says)).waitForClose();
    expect(heard, what).toMatch(answer);
    expect(heard, what).toContain(has);
    expect(heard, what).not.toMatch(STACK);
    expect(heard, what).not.toMatch(TOLD);
  }
  const several = ['/livez', '/nothing', '/livez'].map((path) => `GET ${path} HTTP/1.1\r\n${HOST}`).join('');
  const heard = await (await openLine(port, several)).waitFor(/(HTTP\/1\.1 .*){3}\{"live":true\}$/s);
  expect([...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '404', '200']);
  // A byte a second of the headers, or of the body.
  for (const byte of `GET /livez HTTP/1.1\r\nX-Slow: ${'a'.repeat(100)}`) {
    if (slow.every((line) => line.isClosed())) break;
    for (const { socket } of slow) socket.write(byte);
    await wait(1_000);
  }
  expect(slow.map((line) => line.isClosed())).toEqual([true, true]);
  await Promise.all(idle.map((line) => line.waitForClose()));

  expect((await fetch(`${url}/livez`)).status).toBe(200);
  await worker.waitForPoll('unchanged');
  expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
  expect(bench.rows("SELECT count(*) AS n FROM runs WHERE outcome = 'failed'")).toEqual([{ n: 0 }]);
  expect(worker.log().filter(({ level, msg }) => Number(level) >= 40 && /status page/.test(String(msg)))).toEqual([]);
});

it('a client that reads no byte of a response for long is disconnected', async () => {
  const answering = async () => textResponse('x'.repeat(LARGE_BYTES));
  await using door = await startServer({ host: '127.0.0.1', port: 0 }, answering);
  const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  let bytes = 0;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.on('data', (part) => {
    bytes += part.length;
  });
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nConnection: close\r\nHost: 127.0.0.1\r\n\r\n');
  await wait(PATIENCE_MS);
  // The buffered bytes come first, then the end.
  socket.resume();
  await closed;
  expect(bytes).toBeLessThan(LARGE_BYTES);
});
