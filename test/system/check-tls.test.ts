import { beforeEach, describe, expect, it } from 'vitest';
import { setUp, setUpFor } from '../support/bench.ts';
import {
  type Authority,
  type Certificate,
  makeAuthority,
  makeSelfSigned,
  noCertificates,
} from '../support/certificate.ts';
import { runCheck, told, troubles } from '../support/check-command.ts';
import { startSilence, startTls } from '../support/tls-service.ts';

const HERE = { names: 'DNS:localhost,IP:127.0.0.1' };

const BAD: readonly (readonly [string, (authority: Authority) => Certificate, string])[] = [
  [
    'signed by itself',
    () => makeSelfSigned(HERE.names),
    'set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority',
  ],
  [
    'that has expired',
    (authority) => authority.issue({ ...HERE, from: -3, until: -1 }),
    'ask the operator of the service to renew the certificate',
  ],
  ['that is not valid yet', (authority) => authority.issue({ ...HERE, from: 1, until: 3 }), 'check the clock'],
  [
    'for another host name',
    (authority) => authority.issue({ names: 'DNS:other.example.test' }),
    'check LEAGUE_SYNC_BASE_URL',
  ],
];

describe('check of a service over TLS', () => {
  beforeEach(({ skip }) => skip(noCertificates() !== undefined, noCertificates()));

  it.each(BAD)('with a certificate %s fails without a request and names the fix', async (_, make, fix) => {
    const { simulator } = await setUp();
    const authority = makeAuthority();
    const { port } = await startTls(simulator.url, make(authority));
    const env = { NODE_EXTRA_CA_CERTS: authority.file };
    const checked = await runCheck(setUpFor(`https://localhost:${port}`), env);
    expect(troubles(checked)).toEqual(['fail tls', 'warn skipped']);
    expect(told(checked, 'tls')).toContain(fix);
    expect(simulator.requests).toEqual([]);
  });

  it('warns of a certificate that is accepted only because none is verified', async () => {
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
    'as %s with a good one that ends soon warns, and one that lasts is well',
    async (host) => {
      const { simulator } = await setUp();
      const authority = makeAuthority();
      const env = { NODE_EXTRA_CA_CERTS: authority.file };
      const soon = await startTls(simulator.url, authority.issue({ ...HERE, until: 3 }));
      const checked = await runCheck(setUpFor(`https://${host}:${soon.port}`), env);
      expect(troubles(checked)).toEqual(['warn tls']);
      expect(told(checked, 'tls')).toMatch(
        /TLSv1\.3, certificate valid until 20.* -> ask the operator of the service to renew the certificate/,
      );
      const lasting = await startTls(simulator.url, authority.issue({ ...HERE, until: 90 }));
      expect(troubles(await runCheck(setUpFor(`https://${host}:${lasting.port}`), env))).toEqual([]);
    },
  );

  it('that speaks plain HTTP fails, and names the fix', async () => {
    const { simulator } = await setUp();
    const checked = await runCheck(setUpFor(simulator.url.replace('http:', 'https:')));
    expect(troubles(checked)).toEqual(['fail tls', 'warn skipped']);
    expect(told(checked, 'tls')).toContain('check whether LEAGUE_SYNC_BASE_URL should begin with http');
  });

  it('that never completes the handshake fails at the attempt timeout', async () => {
    const { port } = await startSilence();
    const checked = await runCheck(setUpFor(`https://localhost:${port}`), { LEAGUE_SYNC_ATTEMPT_TIMEOUT: '300ms' });
    expect(troubles(checked)).toEqual(['fail tls', 'warn skipped']);
    expect(told(checked, 'tls')).toContain('ETIMEDOUT');
  });
});
