import { expect, it } from 'vitest';
import { setUpFor } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import { listLeagues, startService } from '../support/service.ts';
import { openLine, serveHere } from '../support/status-server.ts';

const PROBES = ['/livez', '/readyz', '/metrics'];
const PAGES = ['/', '/leagues', '/changes', '/league?id=l1', '/league?id=nothing', '/a/deep/path', '/icon-good.svg'];
const JSON_PATHS = ['/status.json', '/changes.json', '/leagues.json'];

async function start(env: Readonly<Record<string, string>> = {}) {
  const service = await startService({ leagues: listLeagues([makeLeague('l1')]) });
  const served = await serveHere(setUpFor(service.url), env);
  await served.worker.waitForPoll();
  const statusOf = async (path: string, host: string): Promise<number> => {
    const line = await openLine(served.port, `GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    return Number(/^HTTP\/1\.1 (\d+) /.exec(await line.waitForClose())?.[1]);
  };
  return { ...served, statusOf };
}

it('every address answers GET and HEAD with the same strict headers, and nothing else', async () => {
  const { url, statusOf } = await start();
  for (const path of [...PROBES, ...PAGES, ...JSON_PATHS]) {
    const [get, head] = [await fetch(url + path), await fetch(url + path, { method: 'HEAD' })];
    expect([path, head.status, await head.text()]).toEqual([path, get.status, '']);
    const length = (await get.arrayBuffer()).byteLength;
    // Ages and the process's own metrics may differ in length.
    if (JSON_PATHS.slice(1).includes(path)) expect(head.headers.get('content-length')).toBe(String(length));
    for (const { headers } of [get, head]) {
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      if (!path.endsWith('.svg')) expect(headers.get('cache-control')).toBe('no-store');
      if (path.includes('.json')) expect(headers.get('content-type')).toBe('application/json');
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect([path, method, (await fetch(url + path, { method })).status]).toEqual([path, method, 405]);
  }
  // By default, only names that lead nowhere else.
  expect(await statusOf('/', 'Host: rebound.example\r\n')).toBe(421);
});

it('a name that is made to lead to this machine is answered with 421, except for probes and metrics', async () => {
  const { statusOf } = await start({ LEAGUE_SYNC_ALLOWED_HOSTS: 'Leagues.Example.com, 192.0.2.7' });
  for (const host of ['rebound.example:80', '0.0.0.0', 'www.leagues.example.com', ''])
    for (const path of [...PAGES, ...JSON_PATHS])
      expect([host, path, await statusOf(path, `Host: ${host}\r\n`)]).toEqual([host, path, 421]);
  expect(await statusOf('http://rebound.example/status.json', 'Host: localhost\r\n')).toBe(421);
  for (const path of PROBES) expect(await statusOf(path, 'Host: rebound.example\r\n')).toBe(200);
  for (const host of ['LocalHost:80', '127.0.0.1:9464', '[::1]', 'LEAGUES.example.com.:443', '192.0.2.7:9464'])
    expect([host, await statusOf('/', `Host: ${host}\r\n`)]).toEqual([host, 200]);
});
