import { lookup } from 'node:dns/promises';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { openPort } from '../support/port.ts';
import { openLine, serveHere } from '../support/status-server.ts';

/** Less than a connection that is open may last, and far more than a stop takes. */
const LONGEST_STOP_MS = 6_000;

const NO_HOST = 'no.such.host.invalid';
/** Without a name server to ask, the name may exist. */
const NAMELESS = await lookup(NO_HOST).then(
  () => expect.fail(),
  ({ code }) =>
    code === 'EAI_AGAIN'
      ? ([`${NO_HOST}:9464`, 75, `the name ${NO_HOST} cannot be looked up now`] as const)
      : ([`${NO_HOST}:9464`, 78, `the name ${NO_HOST} has no address`] as const),
);

describe('LEAGUE_SYNC_LISTEN', () => {
  it('that is taken ends a start with 75 before anything is sent to the service', async () => {
    const bench = await setUp();
    const { port } = await openPort(createServer());
    const { code, stderr } = await bench.run(['run'], { LEAGUE_SYNC_LISTEN: `127.0.0.1:${port}` });
    expect(code).toBe(75);
    expect(stderr).toMatch(
      new RegExp(
        `LEAGUE_SYNC_LISTEN: another program already uses 127\\.0\\.0\\.1:${port} -> name another address, or off`,
      ),
    );
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(bench.simulator.requests).toEqual([]);
  });

  it.each([['192.0.2.1:9464', 75, 'this machine has no address 192.0.2.1'], NAMELESS] as const)(
    'that is %s ends the worker with %i',
    async (listen, expected, why) => {
      const bench = await setUp();
      const { code, stderr } = await bench.run(['run'], { LEAGUE_SYNC_LISTEN: listen });
      expect([code, stderr]).toEqual([
        expected,
        expect.stringContaining(`LEAGUE_SYNC_LISTEN: ${why} -> name another address, or off`),
      ]);
    },
  );

  it('may be an address of IPv6, whose port the log names', async () => {
    const bench = await setUp();
    const { url } = await serveHere(bench, { LEAGUE_SYNC_LISTEN: '[::1]:0' });
    expect(url).toMatch(/^http:\/\/\[::1\]:[1-9]\d+$/);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });
});

it('a stop does not wait for connections, idle or with half a request', async () => {
  const bench = await setUp();
  const { worker, port } = await serveHere(bench);
  await worker.waitForPoll('changed');
  const idle = await openLine(port);
  const half = await openLine(port, 'GET /livez HTTP/1.1\r\nHost: ');
  const kept = await openLine(port, 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await kept.waitFor(/"live":true/);
  const askedAt = performance.now();
  expect((await worker.stop()).code).toBe(0);
  expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
  await Promise.all([idle, half, kept].map((line) => line.waitForClose()));
});
