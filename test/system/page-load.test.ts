import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { type Served, serveLeagues } from '../support/status-server.ts';

const BURST = 2_000;
/** Far more than a response takes, far less than each of these once took. */
const LONGEST_MS = 5_000;

async function ask({ url }: Served, path: string): Promise<{ readonly text: string; readonly tookMs: number }> {
  const began = performance.now();
  const text = await (await fetch(url + path)).text();
  return { text, tookMs: performance.now() - began };
}

describe('a worker stays responsive', () => {
  it('when a client sends a burst of requests and reads nothing', async () => {
    const served = await serveLeagues(makeLeagues(500));
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(BURST));
    // Closed by the server, with or without a response.
    await new Promise((resolve) => socket.once('close', resolve));
    expect((await ask(served, '/livez')).tookMs).toBeLessThan(LONGEST_MS);
    expect((await served.worker.stop()).code).toBe(0);
  });

  it('during a search that is meant to be slow', async () => {
    const slow = 'a'.repeat(10_000);
    const served = await serveLeagues(makeLeagues(50, { league_name: slow, city: slow, state: slow }));
    const { text, tookMs } = await ask(served, `/leagues?q=${'a'.repeat(5_000)}b`);
    expect(tookMs).toBeLessThan(LONGEST_MS);
    expect(text).toContain('50 leagues');
  });

  it('with very long sport names, which the page truncates', async () => {
    const sports = Array.from({ length: 100 }, (_, index) =>
      makeLeague(`l${index}`, { sport: `${index}${'<'.repeat(100_000)}` }),
    );
    const served = await serveLeagues(sports);
    const { text, tookMs } = await ask(served, '/');
    expect(text.length).toBeLessThan(1_000_000);
    expect(tookMs).toBeLessThan(LONGEST_MS);
    const [first] = /leagues\?sport=[^"]*/.exec(text) ?? [];
    expect((await ask(served, `/${first?.replaceAll('&amp;', '&')}`)).text).toContain('1 league, sorted by name');
    const list = await ask(served, '/leagues');
    expect(list.text.length).toBeLessThan(1_000_000);
    expect(list.tookMs).toBeLessThan(LONGEST_MS);
  });

  it('with an id too long for a request, which gets no link', async () => {
    const served = await serveLeagues([makeLeague('x'.repeat(20_000), { league_name: 'Long id' })]);
    const { text } = await ask(served, '/leagues');
    expect(text).toContain('Long id');
    expect(text).not.toContain('league?id=');
  });
});
