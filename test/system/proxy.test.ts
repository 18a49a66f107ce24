import { beforeEach, describe, expect, it } from 'vitest';
import {
  addSettings,
  type Bench,
  countLogins,
  EVERY_SECOND,
  PASSWORD,
  setUp,
  setUpFor,
  USERNAME,
} from '../support/bench.ts';
import { makeAuthority, noCertificates } from '../support/certificate.ts';
import { basicPair, expectNoSecret, failToSync } from '../support/failed-sync.ts';
import { type Environment, eventually } from '../support/program.ts';
import { type ProxyBehaviour, type ProxyServer, startProxy } from '../support/proxy.ts';
import { startTls } from '../support/tls-service.ts';

/** A host that only the proxy can resolve. */
const HOST = 'service.example.test';
const ADDRESS = { http: `http://${HOST}`, https: `https://${HOST}` };
const LOGIN = '/players/v1/authenticate/login';
/** An address that leads to this machine, and that the program does not take for loopback. */
const NOT_LOOPBACK = '0.0.0.0';
/** The password of the proxy. */
const PROXY_PASSWORD = 'proxy-canary-4711';
const PROXY_PAIR = basicPair('clerk', PROXY_PASSWORD);
const PROXY_SECRETS = [PROXY_PASSWORD, PROXY_PAIR];
const NOBODY_LISTENS = 'http://127.0.0.1:1';
/** Time for one attempt even on a busy machine; the other three would add nothing. */
const SHORT_RUN = { LEAGUE_SYNC_RUN_TIMEOUT: '1500ms' };
const TRACE = { LEAGUE_SYNC_LOG_LEVEL: 'trace' };
/** Longer than the limits in these tests, shorter than any default of a library. */
const SOON_MS = 6_000;

type Office = {
  readonly proxy: ProxyServer;
  readonly logins: () => number;
  readonly bench: Bench;
  readonly leagues: number;
};

/** A service that only a proxy can reach, and a program without proxy settings. */
async function startOffice(scheme: 'http' | 'https', behaviour?: (nth: number) => ProxyBehaviour): Promise<Office> {
  const { simulator } = await setUp();
  const authority = scheme === 'https' ? makeAuthority() : undefined;
  const front = authority && (await startTls(simulator.url, authority.issue({ names: `DNS:${HOST}` })));
  const env: Environment = authority ? { NODE_EXTRA_CA_CERTS: authority.file } : { LEAGUE_SYNC_ALLOW_HTTP: 'true' };
  return {
    proxy: await startProxy(front?.port ?? Number(new URL(simulator.url).port), behaviour),
    logins: () => countLogins(simulator),
    bench: addSettings(setUpFor(ADDRESS[scheme]), env),
    leagues: simulator.leagues().length,
  };
}

/** The address of the proxy with user and password. */
function withPassword(url: string): string {
  return url.replace('//', `//clerk:${PROXY_PASSWORD}@`);
}

function expectAllLeagues({ bench, leagues }: Office): void {
  expect(bench.rows('SELECT count(*) AS n FROM leagues')).toEqual([{ n: leagues }]);
}

describe('loopback is never proxied', () => {
  it.each(['127.0.0.1', 'localhost'])('as %s', async (host) => {
    const { simulator } = await setUp();
    const proxy = await startProxy(Number(new URL(simulator.url).port));
    const bench = setUpFor(simulator.url.replace('127.0.0.1', host));
    expect((await bench.run(['sync'], everywhere(proxy.url))).code).toBe(0);
    expect(proxy.connections()).toBe(0);
  });

  it('as localhost with the dot of a full name', async () => {
    const { simulator } = await setUp();
    const proxy = await startProxy(Number(new URL(simulator.url).port));
    const bench = setUpFor(simulator.url.replace('127.0.0.1', 'localhost.'));
    const { code } = await bench.run(['sync'], { ...everywhere(proxy.url), ...SHORT_RUN });
    // Whether the name resolves depends on this machine; the settings are valid either way.
    expect([0, 1]).toContain(code);
    expect(proxy.connections()).toBe(0);
  });

  it.each(['nonsense', 'ftp://127.0.0.1:1'])('also if the variables hold %s', async (value) => {
    const bench = await setUp();
    expect((await bench.run(['sync'], everywhere(value))).code).toBe(0);
  });
});

function everywhere(value: string): Environment {
  return { http_proxy: value, HTTP_PROXY: value, https_proxy: value, HTTPS_PROXY: value };
}

describe('a service over plain HTTP beyond a proxy', () => {
  it.each(['http_proxy', 'HTTP_PROXY'])('is synced from through %s', async (name) => {
    const office = await startOffice('http');
    const exit = await office.bench.run(['sync'], { [name]: withPassword(office.proxy.url), ...TRACE });
    expect(exit.code).toBe(0);
    expect(office.proxy.asked).toEqual([
      { method: 'POST', target: `${ADDRESS.http}${LOGIN}`, authorization: `Basic ${PROXY_PAIR}` },
      { method: 'GET', target: `${ADDRESS.http}/events/v1/leagues/`, authorization: `Basic ${PROXY_PAIR}` },
    ]);
    expectAllLeagues(office);
    expectNoSecret(office.bench, exit, PROXY_SECRETS);
  });

  it.each(['break', 'cut', 502] as const)('is asked four times if the proxy does this: %s', async (behaviour) => {
    const { bench, proxy, logins } = await startOffice('http', () => behaviour);
    const failed = await failToSync(bench, { http_proxy: withPassword(proxy.url) }, PROXY_SECRETS);
    expect(failed).toMatchObject({ code: 1, kind: behaviour === 502 ? 'status' : 'network' });
    expect(failed.message).toContain(behaviour === 502 ? answeredBy(proxy) : 'the connection broke');
    expect(failed.logins).toHaveLength(4);
    expect(proxy.asked).toHaveLength(4);
    expect(logins()).toBe(behaviour === 'cut' ? 4 : 0);
  });

  it.each([401, 404, 400])('fails with the name of the proxy, which may have answered itself: %i', async (status) => {
    const { bench, proxy } = await startOffice('http', () => status);
    const failed = await failToSync(bench, { http_proxy: withPassword(proxy.url) }, PROXY_SECRETS);
    expect(failed.message).toContain(`status ${status}`);
    expect(failed.message).toContain(answeredBy(proxy));
  });

  it('is given up at the limit of an attempt if the proxy never answers', async () => {
    const { bench, proxy } = await startOffice('http', () => 'hang');
    const limits = { LEAGUE_SYNC_ATTEMPT_TIMEOUT: '300ms', ...SHORT_RUN };
    const failed = await failToSync(bench, { ...limits, http_proxy: withPassword(proxy.url) }, PROXY_SECRETS);
    expect(failed).toMatchObject({ code: 1, kind: 'timeout' });
  });

  it.each(['hang', 'break', 'cut', 502] as const)('is synced from all the same after one: %s', async (behaviour) => {
    const office = await startOffice('http', (nth) => (nth === 1 ? behaviour : 'relay'));
    const limits = { LEAGUE_SYNC_ATTEMPT_TIMEOUT: '1s' };
    expect((await office.bench.run(['sync'], { ...limits, http_proxy: office.proxy.url })).code).toBe(0);
    expectAllLeagues(office);
  });

  it('is asked once if the proxy wants another password, which is reported', async () => {
    const { bench, proxy } = await startOffice('http', () => 407);
    const failed = await failToSync(bench, { http_proxy: withPassword(proxy.url) }, PROXY_SECRETS);
    expect(failed).toMatchObject({ code: 1, kind: 'network', logins: [failed.message] });
    expect(failed.message).toMatch(/proxy.*407|407.*proxy/);
    expect(failed.message).toContain('http_proxy');
  });
});

function answeredBy({ url }: ProxyServer): string {
  return `The response came through the proxy ${url} (http_proxy), which may have made it itself.`;
}

describe('a service over TLS beyond a proxy', () => {
  beforeEach(({ skip }) => skip(noCertificates() !== undefined, noCertificates()));

  it.each(['https_proxy', 'HTTPS_PROXY', 'http_proxy'])(
    'is synced from through %s, which reads nothing',
    async (name) => {
      const office = await startOffice('https');
      const exit = await office.bench.run(['sync'], { [name]: withPassword(office.proxy.url), ...TRACE });
      expect(exit.code).toBe(0);
      const asked = { method: 'CONNECT', target: `${HOST}:443`, authorization: `Basic ${PROXY_PAIR}` };
      expect(office.proxy.asked).toEqual([asked, asked]);
      const seen = office.proxy.tunnelled();
      expect(seen.length).toBeGreaterThan(1_000);
      const readable = [basicPair(USERNAME, PASSWORD), 'Basic ', 'Bearer ', 'HTTP/1.1', 'league_id'];
      expect(readable.filter((text) => seen.includes(text))).toEqual([]);
      expectAllLeagues(office);
      expectNoSecret(office.bench, exit, PROXY_SECRETS);
    },
  );

  it('is sent nothing if its certificate is not trusted, although that of the proxy is', async () => {
    const { bench, proxy, logins } = await startOffice('https');
    const failed = await failToSync(bench, { NODE_EXTRA_CA_CERTS: '', https_proxy: proxy.url });
    expect(failed).toMatchObject({ code: 1, kind: 'network', logins: [failed.message] });
    expect(failed.message).toContain('set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority');
    expect(proxy.asked).toHaveLength(1);
    expect(logins()).toBe(0);
  });

  it.each(['break', 'cut', 502] as const)('is asked four times if the proxy does this: %s', async (behaviour) => {
    const { bench, proxy, logins } = await startOffice('https', () => behaviour);
    const failed = await failToSync(bench, { https_proxy: withPassword(proxy.url) }, PROXY_SECRETS);
    expect(failed).toMatchObject({ code: 1, kind: 'network' });
    expect(failed.message).toContain(
      `POST ${ADDRESS.https}${LOGIN} through the proxy ${proxy.url} (https_proxy) failed: `,
    );
    expect(failed.logins).toHaveLength(4);
    expect(proxy.asked).toHaveLength(4);
    expect(logins()).toBe(0);
  });

  it.each(['break', 'cut', 502] as const)('is synced from all the same after one: %s', async (behaviour) => {
    const office = await startOffice('https', (nth) => (nth === 1 ? behaviour : 'relay'));
    expect((await office.bench.run(['sync'], { https_proxy: office.proxy.url })).code).toBe(0);
    expectAllLeagues(office);
  });

  it.each([403, 407, 502])('names the proxy, and its status %i, if that refuses', async (status) => {
    const { bench, proxy } = await startOffice('https', () => status);
    const env = { https_proxy: withPassword(proxy.url), ...SHORT_RUN };
    const { message } = await failToSync(bench, env, PROXY_SECRETS);
    expect(message).toMatch(new RegExp(`proxy.*${status}|${status}.*proxy`));
    expect(message).toContain('https_proxy');
  });

  it.each([403, 407])('is asked once if the proxy refuses with %i', async (status) => {
    const { bench, proxy } = await startOffice('https', () => status);
    const failed = await failToSync(bench, { https_proxy: proxy.url });
    expect(failed.logins).toHaveLength(1);
  });

  it('is given up at the limit of an attempt if the proxy never answers', async () => {
    const { bench, proxy } = await startOffice('https', () => 'hang');
    const limits = { LEAGUE_SYNC_ATTEMPT_TIMEOUT: '300ms', LEAGUE_SYNC_RUN_TIMEOUT: '3s' };
    const sync = bench.start(['sync'], { ...limits, https_proxy: proxy.url });
    await eventually('it ends', () => !sync.alive(), SOON_MS);
    expect((await sync.waitForExit()).code).toBe(1);
    expect(bench.rows('SELECT error_message FROM logins')[0]?.error_message).toContain('took longer than 300 ms');
  });

  it('does not keep a worker from stopping if the proxy never answers', async () => {
    const { bench, proxy } = await startOffice('https', () => 'hang');
    const worker = bench.start(['run'], { https_proxy: proxy.url });
    await eventually('the proxy is asked', () => proxy.asked.length > 0);
    worker.send('SIGTERM');
    await eventually('it ends', () => !worker.alive(), SOON_MS);
    expect((await worker.waitForExit()).code).toBe(0);
  });

  it('is synced from again once the proxy has recovered', async () => {
    let behaviour: ProxyBehaviour = 'relay';
    const { bench, proxy } = await startOffice('https', () => behaviour);
    const limits = { LEAGUE_SYNC_ATTEMPT_TIMEOUT: '1s', LEAGUE_SYNC_RUN_TIMEOUT: '3s' };
    const worker = bench.start(['run'], { ...limits, LEAGUE_SYNC_SCHEDULE: EVERY_SECOND, https_proxy: proxy.url });
    await worker.waitForPoll('changed');
    behaviour = 'hang';
    const asked = proxy.asked.length;
    await eventually('a tunnel hangs', () => proxy.asked.length > asked);
    behaviour = 'relay';
    const before = worker.log().length;
    await eventually('a poll succeeds', () => hasSucceeded(worker.log().slice(before)), SOON_MS);
  });
});

function hasSucceeded(lines: readonly Readonly<Record<string, unknown>>[]): boolean {
  return lines.some((line) => line.kind === 'leagues' && line.outcome === 'unchanged');
}

describe('a proxy that is not there', () => {
  it.each(['http', 'https'] as const)('is tried four times for %s', async (scheme) => {
    const env = { ...everywhere(withPassword(NOBODY_LISTENS)), LEAGUE_SYNC_ALLOW_HTTP: 'true' };
    const failed = await failToSync(setUpFor(ADDRESS[scheme]), env, PROXY_SECRETS);
    expect(failed).toMatchObject({ code: 1, kind: 'network' });
    expect(failed.message).toContain('the connection to the proxy was refused');
    expect(failed.logins).toHaveLength(4);
  });

  it.each(['http', 'https'] as const)('is named as what is missing, for %s', async (scheme) => {
    const env = { ...everywhere(withPassword(NOBODY_LISTENS)), LEAGUE_SYNC_ALLOW_HTTP: 'true', ...SHORT_RUN };
    const { message } = await failToSync(setUpFor(ADDRESS[scheme]), env, PROXY_SECRETS);
    expect(message).toContain('proxy');
    expect(message).toContain('127.0.0.1:1');
  });
});

describe('of the proxy variables', () => {
  it('the one in lower case counts', async () => {
    const office = await startOffice('http');
    const env = { http_proxy: office.proxy.url, HTTP_PROXY: NOBODY_LISTENS };
    expect((await office.bench.run(['sync'], env)).code).toBe(0);
    expectAllLeagues(office);
  });

  it('one needs no http:// before host and port, and the worker says that it goes through it', async () => {
    const { bench, proxy } = await startOffice('http');
    const worker = bench.start(['run'], { http_proxy: proxy.url.replace('http://', '') });
    const { msg } = await worker.waitForLog((line) => String(line.msg).startsWith('worker started'));
    expect(msg).toContain(`): polls ${ADDRESS.http} through the proxy ${proxy.url} (http_proxy)`);
    await worker.waitForPoll('changed');
  });

  it.each([
    ['no_proxy', NOT_LOOPBACK],
    ['NO_PROXY', NOT_LOOPBACK],
    ['no_proxy', `other.example.test, ${NOT_LOOPBACK}`],
    ['no_proxy', '*'],
  ])('%s=%s keeps the proxy out', async (name, value) => {
    const { exit, proxy, logins } = await syncUnless(name, value);
    expect(exit.code).toBe(0);
    expect(proxy.connections()).toBe(0);
    expect(logins).toBe(1);
  });

  it.each([
    ['no_proxy', 'other.example.test'],
    ['no_proxy', `${NOT_LOOPBACK}:1`],
    ['NO_PROXY', ''],
  ])('%s=%s does not', async (name, value) => {
    const { exit, proxy, logins } = await syncUnless(name, value);
    expect(exit.code).toBe(0);
    expect(proxy.asked).toHaveLength(2);
    expect(logins).toBe(1);
  });
});

/** Syncs from an address that can be reached with and without the proxy. */
async function syncUnless(name: string, value: string) {
  const { simulator } = await setUp();
  const { port } = new URL(simulator.url);
  const proxy = await startProxy(Number(port));
  const bench = setUpFor(`http://${NOT_LOOPBACK}:${port}`);
  const exit = await bench.run(['sync'], { LEAGUE_SYNC_ALLOW_HTTP: 'true', http_proxy: proxy.url, [name]: value });
  return { exit, proxy, logins: countLogins(simulator) };
}

describe('an invalid proxy variable', () => {
  const UNUSABLE = [
    'nonsense',
    `http://clerk:${PROXY_PASSWORD}@127.0.0.1:99999`,
    `http://clerk:%zz${PROXY_PASSWORD}@127.0.0.1:3128`,
    `http://clerk:${PROXY_PASSWORD}#@127.0.0.1:3128`,
    `ftp://clerk:${PROXY_PASSWORD}@127.0.0.1:3128`,
    `socks4://clerk:${PROXY_PASSWORD}@127.0.0.1:3128`,
    `socks5://clerk:${PROXY_PASSWORD}@127.0.0.1:3128`,
    'http://127.0.0.1:3128/path',
  ];

  it.each(UNUSABLE)('is an unusable setting: %s', async (value) => {
    const { code, stderr } = await setUpFor(ADDRESS.https).run(['sync'], { https_proxy: value });
    expect(code).toBe(78);
    expect(stderr).toContain('https_proxy');
    expect(stderr).not.toContain('    at ');
    expect(stderr).not.toContain(PROXY_PASSWORD);
  });
});
