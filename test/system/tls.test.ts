import { beforeEach, describe, expect, it } from 'vitest';
import { countLogins, PASSWORD, setUp, setUpFor, USERNAME } from '../support/bench.ts';
import {
  type Authority,
  type Certificate,
  makeAuthority,
  makeSelfSigned,
  noCertificates,
} from '../support/certificate.ts';
import { basicPair, expectNoSecret, failToSync } from '../support/failed-sync.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';
import { grantLogin, json, listLeagues, startService } from '../support/service.ts';
import { startSilence, startTls } from '../support/tls-service.ts';

const HERE = { names: 'DNS:localhost,IP:127.0.0.1' };
const TOKEN = grantLogin({ access_token: 'access-token-1' });
const LOGIN = '/players/v1/authenticate/login';
/** Shorter than the connect timeout, longer than an immediate failure. */
const AT_ONCE_MS = 5_000;

type Bad = {
  readonly certificate: (authority: Authority) => Certificate;
  readonly trusted: boolean;
  readonly code: string;
  /** The expected fix. */
  readonly fix: string;
};

const BAD: Readonly<Record<string, Bad>> = {
  'of an authority that is not trusted': {
    certificate: (authority) => authority.issue(HERE),
    trusted: false,
    code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    fix: 'NODE_EXTRA_CA_CERTS',
  },
  'signed by itself': {
    certificate: () => makeSelfSigned(HERE.names),
    trusted: true,
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    fix: 'NODE_EXTRA_CA_CERTS',
  },
  'that has expired': {
    certificate: (authority) => authority.issue({ ...HERE, from: -3, until: -1 }),
    trusted: true,
    code: 'CERT_HAS_EXPIRED',
    fix: 'renew the certificate',
  },
  'that is not valid yet': {
    certificate: (authority) => authority.issue({ ...HERE, from: 1, until: 3 }),
    trusted: true,
    code: 'CERT_NOT_YET_VALID',
    fix: 'check the clock of this machine',
  },
  'for another host name': {
    certificate: (authority) => authority.issue({ names: 'DNS:other.example.test' }),
    trusted: true,
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    fix: 'check LEAGUE_SYNC_BASE_URL',
  },
};

describe('a service over TLS', () => {
  beforeEach(({ skip }) => skip(noCertificates() !== undefined, noCertificates()));

  it('is synced from if its authority is named in NODE_EXTRA_CA_CERTS', async () => {
    const { simulator } = await setUp();
    const authority = makeAuthority();
    const { port } = await startTls(simulator.url, authority.issue(HERE));
    for (const host of ['localhost', '127.0.0.1']) {
      const bench = setUpFor(`https://${host}:${port}`);
      const exit = await bench.run(['sync'], { NODE_EXTRA_CA_CERTS: authority.file, LEAGUE_SYNC_LOG_LEVEL: 'trace' });
      expect(exit.code, host).toBe(0);
      expect(bench.rows('SELECT count(*) AS n FROM leagues'), host).toEqual([{ n: simulator.leagues().length }]);
      expectNoSecret(bench, exit);
    }
    expect(simulator.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it.each(Object.entries(BAD))('with a certificate %s is asked once and told nothing', async (_, bad) => {
    const { simulator } = await setUp();
    const authority = makeAuthority();
    const front = await startTls(simulator.url, bad.certificate(authority));
    const address = `https://localhost:${front.port}`;
    const failed = await failToSync(setUpFor(address), bad.trusted ? { NODE_EXTRA_CA_CERTS: authority.file } : {});
    expect(failed).toMatchObject({ code: 1, kind: 'network', logins: [failed.message] });
    expect(failed.message).toContain(`POST ${address}${LOGIN} failed: its TLS certificate `);
    expect(failed.message).toContain(bad.fix);
    expect(failed.message).toContain(`(${bad.code}); `);
    expect(failed.stderr).toContain(`league-sync: ${failed.message}`);
    expect(front.connections()).toBe(1);
    expect(simulator.requests).toEqual([]);
  });

  it('gets nothing over plain HTTP', async () => {
    const { simulator } = await setUp();
    const front = await startTls(simulator.url, makeAuthority().issue(HERE));
    const address = `http://localhost:${front.port}`;
    const failed = await failToSync(setUpFor(address), { LEAGUE_SYNC_RUN_TIMEOUT: '2s' });
    expect(failed).toMatchObject({ code: 1, kind: 'network' });
    expect(failed.message).toContain(`POST ${address}${LOGIN} failed: the connection broke`);
    expect(simulator.requests).toEqual([]);
  });

  it.each(['http', 'https'] as const)(
    'that redirects the leagues to another origin over %s does not get there',
    async (scheme) => {
      const { address, elsewhere, simulator, env } = await startRedirecting('leagues', scheme);
      const bench = setUpFor(address);
      const exit = await bench.run(['sync'], env);
      expect(exit.code).toBe(1);
      expect(bench.rows('SELECT error_kind, http_status, attempts FROM runs')).toEqual([
        { error_kind: 'status', http_status: 307, attempts: 1 },
      ]);
      expect(exit.stderr).toContain(
        `was redirected (status 307) to ${elsewhere.origin}/events/v1/leagues/, and redirects`,
      );
      expect(exit.stderr).toContain('; check LEAGUE_SYNC_BASE_URL.');
      expect(elsewhere.connections()).toBe(0);
      expect(simulator.requests).toEqual([]);
      expectNoSecret(bench, exit);
    },
  );

  it.each(['http', 'https'] as const)(
    'that redirects the login to another origin over %s does not get there',
    async (scheme) => {
      const { address, elsewhere, simulator, env } = await startRedirecting('login', scheme);
      const failed = await failToSync(setUpFor(address), env);
      expect(failed).toMatchObject({ code: 1, kind: 'status', logins: [failed.message] });
      expect(failed.message).toContain(`was redirected (status 307) to ${elsewhere.origin}${LOGIN}, and redirects`);
      expect(failed.message).toContain('; check LEAGUE_SYNC_BASE_URL.');
      expect(elsewhere.connections()).toBe(0);
      expect(simulator.requests).toEqual([]);
    },
  );
});

/** A TLS service that redirects this path to another one, which would answer. */
async function startRedirecting(what: 'login' | 'leagues', scheme: 'http' | 'https') {
  const { simulator } = await setUp();
  const authority = makeAuthority();
  const certificate = authority.issue(HERE);
  const other = await startTls(simulator.url, certificate);
  const origin = scheme === 'https' ? `https://localhost:${other.port}` : simulator.url;
  const location = `${origin}${what === 'login' ? LOGIN : '/events/v1/leagues/'}`;
  const redirect = json({}, 307, { location });
  const service = await startService({ login: TOKEN, leagues: listLeagues([makeLeague('a')]), [what]: redirect });
  const front = await startTls(service.url, certificate);
  return {
    address: `https://localhost:${front.port}`,
    elsewhere: { origin, connections: other.connections },
    simulator,
    env: { NODE_EXTRA_CA_CERTS: authority.file },
  };
}

describe('an https address', () => {
  it('of a service that speaks plain HTTP is asked once, and the fix is named', async () => {
    const { simulator } = await setUp();
    const failed = await failToSync(setUpFor(simulator.url.replace('http:', 'https:')), {});
    expect(failed).toMatchObject({ code: 1, kind: 'network', logins: [failed.message] });
    expect(failed.message).toContain('check whether LEAGUE_SYNC_BASE_URL should begin with http, or name another port');
    expect(countLogins(simulator)).toBe(0);
  });

  it('whose handshake is never completed is given up at the limit of an attempt', async () => {
    const silence = await startSilence();
    const address = `https://localhost:${silence.port}`;
    const limits = { LEAGUE_SYNC_ATTEMPT_TIMEOUT: '300ms', LEAGUE_SYNC_RUN_TIMEOUT: '3s' };
    const failed = await failToSync(setUpFor(address), limits);
    expect(failed).toMatchObject({ code: 1, kind: 'timeout' });
    expect(failed.logins[0]).toBe(`POST ${address}${LOGIN} took longer than 300 ms (LEAGUE_SYNC_ATTEMPT_TIMEOUT).`);
    expect(silence.connections()).toBeGreaterThan(1);
    expect(silence.connections()).toBeLessThanOrEqual(4);
  });

  it('whose handshake is never completed does not keep a worker from stopping', async () => {
    const silence = await startSilence();
    const worker = setUpFor(`https://localhost:${silence.port}`).start(['run']);
    await eventually('it connects', () => silence.connections() > 0);
    worker.send('SIGTERM');
    await eventually('it ends', () => !worker.alive(), AT_ONCE_MS);
    expect((await worker.waitForExit()).code).toBe(0);
  });
});

// Checks that the searches above look for the right secrets.
it('the secrets that must not be written are those that are sent', async () => {
  const service = await startService({ login: TOKEN, leagues: listLeagues([makeLeague('a')]) });
  expect((await setUpFor(service.url).run(['sync'])).code).toBe(0);
  const sent = service.requests.map(({ authorization }) => authorization);
  expect(sent).toEqual([`Basic ${basicPair(USERNAME, PASSWORD)}`, 'Bearer access-token-1']);
});
