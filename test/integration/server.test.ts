import { describe, expect, it } from 'vitest';
import { startServer, textResponse } from '../../src/observe/server.ts';
import { type Line, openLine } from '../support/status-server.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
const MANY = 600;
/** What the server keeps open. */
const MOST = 512;
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('a server', () => {
  it.each([
    ['say nothing', '', 'answers'],
    ['have sent half of their headers', 'GET / HTTP/1.1\r\nHost:', 'answers'],
    ['have not sent their body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n', 'answers'],
    ['wait for their answer', REQUEST, 'is slow'],
  ])('answers beside 600 connections that %s, and closes the oldest of them', async (_, says, service) => {
    await using server = await startServer(LOOPBACK, async ({ path }) =>
      path === '/livez' || service === 'answers' ? textResponse('ok') : new Promise(() => undefined),
    );
    const port = Number(new URL(server.url).port);
    const lines: Line[] = [];
    for (let line = 0; line < MANY; line += 1) lines.push(await openLine(port, says));
    expect(await (await fetch(`${server.url}/livez`)).text()).toBe('ok');
    const open = () => lines.flatMap((line, index) => (line.isClosed() ? [] : [index]));
    await expect.poll(open).toEqual(Array.from({ length: MOST - 1 }, (_, index) => MANY - MOST + 1 + index));
  });

  it.each([
    ['gzip', 8_192, 'GET', 'gzip', 'Accept-Encoding'],
    ['br;q=1, *', 8_192, 'GET', 'gzip', 'Accept-Encoding'],
    ['gzip', 8_192, 'HEAD', 'gzip', 'Accept-Encoding'],
    ['gzip;q=0', 8_192, 'GET', null, 'Accept-Encoding'],
    ['identity', 8_192, 'GET', null, 'Accept-Encoding'],
    ['gzip', 8_191, 'GET', null, null],
  ])('asked for %s answers %i bytes to %s with the encoding %s', async (accepted, bytes, method, encoding, vary) => {
    const body = 'é'.repeat(4_000).padEnd(bytes - 4_000, 'x');
    await using server = await startServer(LOOPBACK, async () => textResponse(body));
    const answer = await fetch(server.url, { method, headers: { 'Accept-Encoding': accepted } });
    expect([answer.headers.get('content-encoding'), answer.headers.get('vary')]).toEqual([encoding, vary]);
    expect(await answer.text()).toBe(method === 'HEAD' ? '' : body);
    const length = Number(answer.headers.get('content-length'));
    if (encoding === null) expect(length).toBe(bytes);
    else expect(length).toBeLessThan(200);
  });

  it('closes no connection that was used lately, however old it is', async () => {
    await using server = await startServer(LOOPBACK, async () => textResponse('ok'));
    const port = Number(new URL(server.url).port);
    const active = await openLine(port);
    for (let wave = 0; wave < 3; wave += 1) {
      await Promise.all(Array.from({ length: 300 }, () => openLine(port)));
      // This is accepted after all of those.
      await (await openLine(port, REQUEST)).waitFor(/ok$/);
      active.socket.write(REQUEST);
      await active.waitFor(new RegExp(`(ok.*){${wave + 1}}`, 's'));
    }
    expect(active.isClosed()).toBe(false);
  });

  it('answers eight requests that come at once, closes a connection that sends a burst, and goes on', async () => {
    await using server = await startServer(LOOPBACK, async () => textResponse('ok'));
    const port = Number(new URL(server.url).port);
    await (await openLine(port, REQUEST.repeat(8))).waitFor(/(ok.*){8}/s);
    const burst = await openLine(port, REQUEST.repeat(2_000));
    await burst.waitForClose();
    expect(burst.heard().split('HTTP/1.1').length).toBeLessThan(100);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  });
});
