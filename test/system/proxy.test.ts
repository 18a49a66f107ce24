import { beforeEach, describe, expect, it } from 'vitest';
import { addSettings, type Bench, countLogins, setUp, setUpFor } from '../support/bench.ts';
import { makeAuthority, noCertificates, startTls } from '../support/certificate.ts';
import { failToSync } from '../support/failed-sync.ts';
import type { Environment } from '../support/program.ts';
import { type ProxyBehaviour, type ProxyServer, startProxy } from '../support/proxy.ts';

/** A host that only the proxy can resolve. */
const HOST = 'service.example.test';
const ADDRESS = { http: `http://${HOST}`, https: `https://${HOST}` };
const LOGIN = '/players/v1/authenticate/login';
/** The password of the proxy. */
const PROXY_PASSWORD = 'proxy-canary-4711';
const PROXY_PAIR = Buffer.from(`clerk:${PROXY_PASSWORD}`).toString('base64');
const NOBODY_LISTENS = 'http://127.0.0.1:1';
/** Time for one attempt even on a busy machine; the other three would add little. */
const SHORT_RUN = { LEAGUE_SYNC_RUN_TIMEOUT: '3s' };
const TRACE = { LEAGUE_SYNC_LOG_LEVEL: 'trace' };

type Office = {
  readonly proxy: ProxyServer;
  readonly logins: () => number;
  readonly bench: Bench;
  readonly leagues: number;
};

/** A service that only a proxy can reach, and a program without proxy settings. */
async function startOffice(scheme: 'http' | 'https', behaviour?: ProxyBehaviour): Promise<Office> {
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

function answeredBy({ url }: ProxyServer, variable: string): string {
  return `The response came through the proxy ${url} (${variable}), which may have made it itself.`;
}

// Which proxy the variables name for which address is in test/unit/proxy.test.ts.
it('a service over plain HTTP is synced from through a proxy, which is told its own password', async () => {
  const office = await startOffice('http');
  const env = { http_proxy: withPassword(office.proxy.url), HTTP_PROXY: NOBODY_LISTENS };
  const exit = await office.bench.run(['sync'], { ...env, ...TRACE });
  expect(exit.code).toBe(0);
  expect(office.proxy.asked).toEqual([
    { method: 'POST', target: `${ADDRESS.http}${LOGIN}`, authorization: `Basic ${PROXY_PAIR}` },
    { method: 'GET', target: `${ADDRESS.http}/events/v1/leagues/`, authorization: `Basic ${PROXY_PAIR}` },
  ]);
  expectAllLeagues(office);
});

describe('a service over TLS beyond a proxy', () => {
  beforeEach(({ skip }) => skip(noCertificates() !== undefined, noCertificates()));

  it('is synced from, and the proxy reads nothing', async () => {
    const office = await startOffice('https');
    const exit = await office.bench.run(['sync'], { https_proxy: withPassword(office.proxy.url), ...TRACE });
    expect(exit.code).toBe(0);
    const asked = { method: 'CONNECT', target: `${HOST}:443`, authorization: `Basic ${PROXY_PAIR}` };
    expect(office.proxy.asked).toEqual([asked, asked]);
    const seen = office.proxy.tunnelled();
    expect(seen.length).toBeGreaterThan(1_000);
    const readable = ['Basic ', 'Bearer ', 'HTTP/1.1', 'league_id'];
    expect(readable.filter((text) => seen.includes(text))).toEqual([]);
    expectAllLeagues(office);
  });

  it('is sent nothing if its certificate is not trusted, although that of the proxy is', async () => {
    const { bench, proxy, logins } = await startOffice('https');
    const failed = await failToSync(bench, { NODE_EXTRA_CA_CERTS: '', https_proxy: proxy.url });
    expect(failed).toMatchObject({ code: 1, kind: 'network', logins: [failed.message] });
    expect(failed.message).toContain('set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority');
    expect(proxy.asked).toHaveLength(1);
    expect(logins()).toBe(0);
  });
});

describe('a proxy that', () => {
  beforeEach(({ skip }) => skip(noCertificates() !== undefined, noCertificates()));

  const TIMEOUT = 'took longer than 300 ms';
  const FAILURES: readonly (readonly ['http' | 'https', ProxyBehaviour, kind: string, said: string])[] = [
    ['http', 'break', 'network', 'the connection broke'],
    ['http', 502, 'status', 'status 502'],
    ['http', 407, 'network', '407'],
    ['https', 'cut', 'network', 'through the proxy'],
    ['https', 407, 'network', '407'],
    ['https', 'hang', 'timeout', TIMEOUT],
  ];

  const isAskedAgain = (behaviour: ProxyBehaviour) => ['break', 'cut', 'hang', 502].includes(behaviour);

  it.each(FAILURES)('does this to %s is named as the cause: %s', async (scheme, behaviour, kind, said) => {
    const { bench, proxy, logins } = await startOffice(scheme, behaviour);
    const limits = behaviour === 'hang' ? { LEAGUE_SYNC_ATTEMPT_TIMEOUT: '300ms' } : {};
    const env = { [`${scheme}_proxy`]: withPassword(proxy.url), ...limits, ...SHORT_RUN };
    const failed = await failToSync(bench, env);
    const [told] = failed.logins;
    expect(told).toContain(said);
    if (behaviour !== 'hang') expect(told).toContain(`${proxy.url} (${scheme}_proxy)`);
    if (scheme === 'http' && kind === 'status') expect(told).toContain(answeredBy(proxy, 'http_proxy'));
    // On a busy machine, a run may end within its next attempt.
    expect(isAskedAgain(behaviour) ? [kind, 'timeout'] : [kind]).toContain(failed.kind);
    expect(failed.code).toBe(kind === 'credentials' ? 77 : 1);
    // Asking again would be refused again.
    if (behaviour === 407) expect(proxy.asked).toHaveLength(1);
    if (behaviour !== 'cut') expect(logins()).toBe(0);
  });
});
