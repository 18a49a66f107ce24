import { beforeEach, describe, expect, it } from 'vitest';
import { countLogins, setUp, setUpFor } from '../support/bench.ts';
import {
  type Authority,
  type Certificate,
  makeAuthority,
  noCertificates,
  startSilence,
  startTls,
} from '../support/certificate.ts';
import { runCheck, told, troubles } from '../support/check-command.ts';
import { failToSync } from '../support/failed-sync.ts';
import type { Environment } from '../support/program.ts';

const HERE = { names: 'DNS:localhost,IP:127.0.0.1' };
const LOGIN = '/players/v1/authenticate/login';

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
  'that has expired': {
    certificate: (authority) => authority.issue({ ...HERE, from: -3, until: -1 }),
    trusted: true,
    code: 'CERT_HAS_EXPIRED',
    fix: 'renew the certificate',
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
    }
    expect(simulator.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it.each(Object.entries(BAD))('with a certificate %s is asked once and told nothing', async (_, bad) => {
    const { simulator } = await setUp();
    const authority = makeAuthority();
    const front = await startTls(simulator.url, bad.certificate(authority));
    const address = `https://localhost:${front.port}`;
    const env: Environment = bad.trusted ? { NODE_EXTRA_CA_CERTS: authority.file } : {};
    const failed = await failToSync(setUpFor(address), env);
    expect(failed).toMatchObject({ code: 1, kind: 'network', logins: [failed.message] });
    expect(failed.message).toContain(`POST ${address}${LOGIN} failed: its TLS certificate `);
    expect(failed.message).toContain(bad.fix);
    expect(failed.message).toContain(`(${bad.code}); `);
    expect(failed.stderr).toContain(`league-sync: ${failed.message}`);
    expect(front.connections()).toBe(1);
    const checked = await runCheck(setUpFor(address), env);
    expect(troubles(checked)).toEqual(['fail tls', 'warn skipped']);
    expect(told(checked, 'tls')).toContain(bad.fix);
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

  it('is warned of by check if its certificate is accepted only because none is verified', async () => {
    const { simulator } = await setUp();
    const { port } = await startTls(simulator.url, makeAuthority().issue({ names: 'DNS:other.example.test' }));
    const bench = setUpFor(`https://localhost:${port}`);
    // Node warns on stderr, too.
    const { code, stdout } = await bench.run(['check'], { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^warn +settings +NODE_TLS_REJECT_UNAUTHORIZED=0: no TLS certificate is verified -> /m);
    expect(stdout).toMatch(/^warn +tls .*valid until .*, but not verified \([A-Z_]+\) -> remove NODE_TLS/m);
  });

  it.each(['localhost', '127.0.0.1'])(
    'at %s with a certificate that ends soon is warned of by check, and one that lasts is well',
    async (host) => {
      const { simulator } = await setUp();
      const authority = makeAuthority();
      const env = { NODE_EXTRA_CA_CERTS: authority.file };
      const soon = await startTls(simulator.url, authority.issue({ ...HERE, until: 3 }));
      const address = `https://${host}:${soon.port}`;
      const checked = await runCheck(setUpFor(address), { ...env, LEAGUE_SYNC_HEARTBEAT_URL: address });
      expect(troubles(checked)).toEqual(['warn heartbeat', 'warn tls']);
      expect(told(checked, 'tls')).toMatch(
        /TLSv1\.3, certificate valid until 20.* -> ask the operator of the service to renew the certificate/,
      );
      const lasting = await startTls(simulator.url, authority.issue({ ...HERE, until: 90 }));
      expect(troubles(await runCheck(setUpFor(`https://${host}:${lasting.port}`), env))).toEqual([]);
    },
  );
});

describe('an https address', () => {
  it('of a service that speaks plain HTTP is asked once, and the fix is named', async () => {
    const { simulator } = await setUp();
    const failed = await failToSync(setUpFor(simulator.url.replace('http:', 'https:')), {});
    expect(failed).toMatchObject({ code: 1, kind: 'network', logins: [failed.message] });
    const fix = 'check whether LEAGUE_SYNC_BASE_URL should begin with http, or name another port';
    expect(failed.message).toContain(fix);
    expect(countLogins(simulator)).toBe(0);
    const checked = await runCheck(setUpFor(simulator.url.replace('http:', 'https:')));
    expect(troubles(checked)).toEqual(['fail tls', 'warn skipped']);
    expect(told(checked, 'tls')).toContain(fix);
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
    const checked = await runCheck(setUpFor(address), limits);
    expect(troubles(checked)).toEqual(['fail tls', 'warn skipped']);
    expect(told(checked, 'tls')).toContain('ETIMEDOUT');
  });
});
