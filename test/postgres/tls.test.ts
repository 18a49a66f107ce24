import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Authority, makeAuthority, noCertificates } from '../support/certificate.ts';
import { runCheck, told } from '../support/check-command.ts';
import { connectAs, createPostgres } from './postgres.ts';
import { missingPostgres, type PostgresServer, startPostgres } from './server.ts';
import { setUpMirrored } from './worker.ts';

beforeEach(({ skip }) => {
  const why = missingPostgres() ?? noCertificates();
  if (why !== undefined) skip(why);
});

let server: PostgresServer;
beforeAll(async () => {
  if (missingPostgres() === undefined) server = await startPostgres();
});
afterAll(() => server?.remove());

async function configure(...statements: readonly string[]): Promise<void> {
  const admin = await connectAs(server.port, 'postgres');
  for (const sql of [...statements, 'SELECT pg_reload_conf()']) await admin.query(sql);
  await admin.end();
}

/** Gives the server a certificate for localhost alone. */
async function useTls(authority: Authority): Promise<void> {
  const { cert, key } = authority.issue({ names: 'DNS:localhost' });
  for (const [name, text] of [
    ['server.crt', cert],
    ['server.key', key],
  ] as const) {
    const path = join(server.folder, 'data', name);
    writeFileSync(path, text, { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534);
  }
  await configure('ALTER SYSTEM SET ssl = on');
}

it('sslmode is read as libpq reads it: what it asks for is verified, and nothing else', async () => {
  const authority = makeAuthority();
  const postgres = await createPostgres(server.port);
  const bench = await setUpMirrored(postgres);
  await bench.run(['sync']);
  await useTls(authority);
  const check = async (host: string, parameters: string, env = {}) => {
    const url = `${postgres.url.replace('127.0.0.1', host)}${parameters}`;
    return told(await runCheck(bench, { LEAGUE_SYNC_POSTGRES_URL: url, ...env }), 'mirror');
  };
  const root = `sslrootcert=${authority.file}`;
  const unverified = /^ok PostgreSQL \S+ .*TLSv1\.3, certificate not verified/;
  const verified = /^ok PostgreSQL \S+ .*TLSv1\.3, certificate verified/;
  const refused = /^fail The mirror at .+ cannot be used: .*(certificate|altnames)/i;
  expect(await check('127.0.0.1', '')).toMatch(unverified);
  expect(await check('127.0.0.1', '?sslmode=disable')).toMatch(/no TLS/);
  expect(await check('127.0.0.1', '?sslmode=require')).toMatch(unverified);
  for (const mode of ['sslmode=require&', '', 'sslmode=allow&'])
    expect(await check('127.0.0.1', `?${mode}${root}`)).toMatch(verified);
  expect(await check('127.0.0.1', '?sslmode=verify-ca')).toMatch(refused);
  expect(await check('127.0.0.1', `?sslmode=verify-ca&${root}`)).toMatch(verified);
  expect(await check('127.0.0.1', `?sslmode=verify-full&${root}`)).toMatch(refused);
  expect(await check('localhost', `?sslmode=verify-full&${root}`)).toMatch(verified);
  // The parameter is what is connected to, so the certificate has to be for it, whatever the address says.
  expect(await check('localhost', `?sslmode=verify-full&${root}&host=127.0.0.1`)).toMatch(refused);
  expect(await check('localhost', `?sslmode=verify-full&${root}&host=127.0.0.1`)).toContain('at 127.0.0.1:');
  for (const system of ['?sslmode=verify-full', '?sslrootcert=system'])
    expect(await check('localhost', system)).toMatch(refused);
  expect(await check('localhost', '?sslmode=verify-full', { NODE_EXTRA_CA_CERTS: authority.file })).toMatch(verified);
  const rules = join(server.folder, 'data', 'pg_hba.conf');
  writeFileSync(rules, `hostssl all all all reject\n${readFileSync(rules, 'utf8')}`);
  await configure();
  for (const mode of ['prefer', 'allow']) expect(await check('127.0.0.1', `?sslmode=${mode}`)).toMatch(/no TLS/);
  expect(await check('127.0.0.1', '?sslmode=require')).toMatch(/^fail .*\(28000\)/);
});
