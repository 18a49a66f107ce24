import { describe, expect, it } from 'vitest';
import { runCheck, told } from '../support/check-command.ts';
import { scrape } from '../support/scrape.ts';
import { serveHere } from '../support/status-server.ts';
import { createPostgres, MIRROR_PASSWORD, skipWithoutPostgres } from './postgres.ts';
import { change, setUpMirrored } from './worker.ts';

skipWithoutPostgres();

const LAG = 'league_sync_mirror_lag_changes';
const SUCCESS = 'league_sync_mirror_last_success_timestamp_seconds';

describe('status and check', () => {
  it('say how far the mirror is, and never the password', async () => {
    const postgres = await createPostgres();
    const bench = await setUpMirrored(postgres);
    await bench.run(['sync']);
    expect((await bench.run(['status'])).stdout).not.toMatch(/^mirror/m);
    expect(told(await runCheck(bench), 'mirror')).toMatch(/^ok PostgreSQL 1\d\.\d+.*, no TLS; not filled yet/);
    await bench.run(['mirror']);
    expect(told(await runCheck(bench), 'mirror')).toMatch(/; up to date with change 124 -> $/);
    change(bench, 4, 5);
    await bench.run(['sync']);
    expect(told(await runCheck(bench), 'mirror')).toMatch(/^warn .+; 4 changes behind -> start the worker/);
    const { mirror } = JSON.parse((await bench.run(['status', '--json'])).stdout);
    expect(mirror).toMatchObject({
      label: `127.0.0.1:${postgres.port}/${postgres.name}, schema league_sync`,
      seq: 124,
      mirrored_at: expect.stringMatching(/Z$/),
      lag_changes: 4,
      last_error: null,
    });
    expect((await bench.run(['status'])).stdout).toMatch(
      /^mirror .+, schema league_sync: 4 changes pending, last written /m,
    );
  });

  it('find it by the variables of libpq', async () => {
    const { port, role, name } = await createPostgres();
    const server = { PGHOST: '127.0.0.1', PGPORT: String(port), PGDATABASE: 'postgres', PGPASSWORD: MIRROR_PASSWORD };
    const bench = await setUpMirrored({ url: `postgresql://${role}@?dbname=${name}` });
    await bench.run(['sync'], server);
    expect(told(await runCheck(bench, server), 'mirror')).toMatch(/^ok PostgreSQL/);
  });

  it('say why the mirror cannot be used', async () => {
    const postgres = await createPostgres();
    const bench = await setUpMirrored(postgres);
    await bench.run(['sync']);
    const wrong = { LEAGUE_SYNC_POSTGRES_URL: postgres.url.replace('mirror-password', 'wrong-password') };
    expect(told(await runCheck(bench, wrong), 'mirror')).toMatch(
      /^fail The mirror at .+ password authentication failed/,
    );
    expect((await bench.run(['mirror'], wrong)).code).toBe(1);
    expect((await bench.run(['status'])).stdout).toMatch(/^mirror .+failed 1 time .*password authentication failed/m);
    const gone = { LEAGUE_SYNC_POSTGRES_URL: 'postgresql://role:secret-word@127.0.0.1:1/x' };
    expect(told(await runCheck(bench, gone), 'mirror')).toMatch(
      /^fail The mirror at 127\.0\.0\.1:1\/x cannot be used: connect ECONNREFUSED/,
    );
    const tls = { LEAGUE_SYNC_POSTGRES_URL: `${postgres.url}?sslmode=require` };
    expect(told(await runCheck(bench, tls), 'mirror')).toContain('The server does not support SSL connections');
  });
});

it.each([
  ["INSERT INTO league_sync.mirror_migrations VALUES (99, '', '')", 'a newer version of league-sync', 74, 0],
  [
    'DROP SCHEMA league_sync CASCADE; CREATE SCHEMA league_sync AUTHORIZATION ROLE_NAME; CREATE TABLE league_sync.leagues ()',
    'has a relation leagues that is not of a mirror',
    74,
    74,
  ],
  ['ALTER ROLE ROLE_NAME SET default_transaction_read_only = on', 'default_transaction_read_only is on', 1, 1],
])('check refuses a mirror that takes nothing: %s', async (sql, why, code, rebuilt) => {
  const postgres = await createPostgres();
  const bench = await setUpMirrored(postgres);
  await bench.run(['sync']);
  await bench.run(['mirror']);
  await postgres.query(sql.replace('ROLE_NAME', postgres.role));
  expect(told(await runCheck(bench), 'mirror')).toMatch(new RegExp(`^fail .*${why}`));
  expect(await bench.run(['mirror'])).toMatchObject({ code, stderr: expect.stringContaining(why) });
  expect((await bench.run(['mirror', 'rebuild'])).code).toBe(rebuilt);
});

it('a worker shows that its mirror fails, and is ready nevertheless', async () => {
  const postgres = await createPostgres();
  const gone = { LEAGUE_SYNC_POSTGRES_URL: 'postgresql://role:secret-word@127.0.0.1:1/x' };
  const { bench, worker, url } = await serveHere(await setUpMirrored(postgres), gone);
  await worker.waitForPoll('changed');
  await worker.waitForLog(({ msg, failures }) => failures === 2 && /polls continue$/.test(String(msg)));
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const { mirror } = JSON.parse(await (await fetch(`${url}/status.json`)).text());
  expect(mirror).toMatchObject({ seq: null, lag_changes: 124, failed_attempts: 2 });
  expect(await (await fetch(`${url}/`)).text()).toMatch(
    />The mirror at .+ fails \(connect ECONNREFUSED .+\): 124 changes pending\.<.+<dt>Mirror<\/dt><dd>124 changes pending.+ECONNREFUSED/s,
  );
  const { stdout } = await bench.run(['status', '--json'], gone);
  // For the first hour, only the line of the mirror says it.
  expect(JSON.parse(stdout)).toMatchObject({ headline: 'Up to date', mirror: { failed_attempts: 2 } });
  const found = await scrape(url);
  expect([found.value(LAG), found.value(SUCCESS)]).toEqual([124, 0]);
  await worker.stop();
});
