import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setUp, setUpSynced } from '../support/bench.ts';
import { openPort } from '../support/port.ts';
import { eventually } from '../support/program.ts';
import { serve } from '../support/status-server.ts';
import { stopInTime } from '../support/stopping.ts';
import { expectMirrored } from './compare.ts';
import {
  connectAs,
  createPostgres,
  ENDLESS,
  HUGE,
  type Postgres,
  skipWithoutPostgres,
  waitForBlocked,
} from './postgres.ts';
import { change, setUpMirrored } from './worker.ts';

skipWithoutPostgres();

/** A mirror that has been filled. */
async function setUpFilled(postgres: Postgres) {
  const bench = await setUpMirrored(postgres);
  await bench.run(['sync']);
  expect((await bench.run(['mirror'])).code).toBe(0);
  return bench;
}

describe('a mirror in a server with settings of its own', () => {
  it('follows and is rebuilt where the role has others than usual', async () => {
    const postgres = await createPostgres();
    for (const setting of [
      "datestyle = 'German'",
      'standard_conforming_strings = off',
      "timezone = 'Asia/Kathmandu'",
      "default_transaction_isolation = 'serializable'",
    ])
      await postgres.query(`ALTER ROLE ${postgres.role} SET ${setting}`);
    const bench = await setUpFilled(postgres);
    change(bench, 3, 33);
    await bench.run(['sync']);
    for (const args of [['mirror'], ['mirror', 'rebuild'], ['mirror']])
      expect(await bench.run(args)).toMatchObject({ code: 0, stderr: '' });
    await expectMirrored(bench.database, postgres.query);
  });

  it('waits for another writer where transactions are repeatable', async () => {
    const postgres = await createPostgres();
    const bench = await setUpFilled(postgres);
    await postgres.query(`ALTER ROLE ${postgres.role} SET default_transaction_isolation = 'repeatable read'`);
    const writer = await connectAs(postgres.port, postgres.name);
    await writer.query('BEGIN; UPDATE league_sync.mirror_state SET mirrored_at = now()');
    const mirroring = bench.run(['mirror']);
    await waitForBlocked(postgres);
    await writer.query('COMMIT');
    expect(await mirroring).toMatchObject({ code: 0 });
    await writer.end();
  });
});

describe('a mirror among relations and functions of others', () => {
  it('calls none of their functions', async () => {
    const postgres = await createPostgres();
    const bench = await setUpFilled(postgres);
    const make = (head: string, result: string) =>
      `CREATE FUNCTION league_sync.${head} RETURNS ${result} LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$`;
    for (const [head, result] of [
      ['left(name, int)', 'text'],
      ['length(name)', 'int'],
      ['strpos(name, text)', 'int'],
      ['hashtextextended(text, int)', 'bigint'],
      ['has_database_privilege(name, text)', 'boolean'],
    ] as const)
      await postgres.query(make(head, result));
    for (const args of [['mirror'], ['mirror', 'rebuild']])
      expect(await bench.run(args)).toMatchObject({ code: 0, stderr: '' });
  });

  it('renames only its own in a rebuild', async () => {
    const postgres = await createPostgres();
    const bench = await setUpFilled(postgres);
    await postgres.query(`CREATE TABLE league_sync.my__rebuild_notes (id int PRIMARY KEY, CHECK (id > 0));
      CREATE INDEX leagues_pkey__rebuild ON league_sync.my__rebuild_notes (id)`);
    const find = `SELECT relname FROM pg_class WHERE relname LIKE '%\\_\\_rebuild%' UNION ALL
      SELECT conname FROM pg_constraint WHERE conname LIKE '%\\_\\_rebuild%' ORDER BY 1`;
    const before = await postgres.query(find);
    expect(before.length).toBe(5);
    expect(await bench.run(['mirror', 'rebuild'])).toMatchObject({ code: 0, stderr: '' });
    expect(await postgres.query(find)).toEqual(before);
  });

  it('is not rebuilt where that would show rows which row-level security hides', async () => {
    const postgres = await createPostgres();
    const bench = await setUpFilled(postgres);
    await postgres.query('ALTER TABLE league_sync.players ENABLE ROW LEVEL SECURITY');
    const { code, stderr } = await bench.run(['mirror', 'rebuild']);
    expect([code, stderr.includes('the table players has row-level security')]).toEqual([74, true]);
  });

  it('is rebuilt although a reader goes from one of its tables to another', async () => {
    const postgres = await createPostgres();
    const bench = await setUpFilled(postgres);
    const reader = await connectAs(postgres.port, postgres.name);
    // The rebuild gives way: it finds the deadlock, or reaches the limit of its lock.
    await reader.query("SET deadlock_timeout = '1min'");
    await reader.query('BEGIN; SELECT count(*) FROM league_sync.leagues');
    const rebuilding = bench.run(['mirror', 'rebuild']);
    await waitForBlocked(postgres);
    expect((await reader.query('SELECT seq FROM league_sync.mirror_state')).rows).toHaveLength(1);
    await reader.query('COMMIT');
    expect(await rebuilding).toMatchObject({ code: 0, stderr: '' });
    await reader.end();
  });

  it('says that rows are lost, or that of its state', async () => {
    const postgres = await createPostgres();
    const bench = await setUpFilled(postgres);
    for (const [lost, message] of [
      ['leagues', /The mirror has 122 rows in leagues, and .+ has 124; .+ mirror rebuild/],
      ['league_changes', /The mirror has 122 rows in league_changes, and .+ has 124; .+ mirror rebuild/],
      ['mirror_state', /lost the row of mirror_state/],
    ] as const) {
      await postgres.query(
        `DELETE FROM league_sync.${lost} WHERE ctid IN (SELECT ctid FROM league_sync.${lost} LIMIT 2)`,
      );
      const { code, stderr } = await bench.run(['mirror']);
      expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([74, expect.stringMatching(message)]);
      expect(await bench.run(['mirror', 'rebuild'])).toMatchObject({ code: 0 });
    }
    await expectMirrored(bench.database, postgres.query);
  });
});

/** Answers each piece of what a client sends; ends with the test. */
async function answerWith(answer: (received: string, index: number) => string): Promise<string> {
  const server = createServer((socket) => {
    let answered = 0;
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      socket.write(Buffer.from(answer(data.toString('latin1'), answered), 'latin1'));
      answered += 1;
    });
  });
  const { port } = await openPort(server);
  return `127.0.0.1:${port}`;
}

const READY = 'R\0\0\0\b\0\0\0\0Z\0\0\0\x05I';
it.each([
  ['an unknown kind of password', ['R\0\0\0\b\0\0\0c']],
  ['a row that ends too early', ['D\0\0\0\n\x7f\xff\x7f\xff\xff\xff']],
  ['a description that ends too early', [READY, 'T\0\0\0\x07\0\xc8A']],
])('a server that is none of PostgreSQL is named if it answers with %s', async (_name, answers) => {
  const address = await answerWith((_received, index) => answers[index] ?? '');
  const bench = await setUpSynced();
  const env = { LEAGUE_SYNC_POSTGRES_URL: `postgresql://somebody:fake-password@${address}/x?sslmode=disable` };
  const { code, stderr } = await bench.run(['mirror'], env);
  expect([code, stderr.includes('its answer is not one of PostgreSQL')]).toEqual([1, true]);
});

describe.each([
  ['bytes that `pg` reads for ever', ENDLESS, /did not respond for 15 s/],
  ['a message without end', HUGE, /sent more than any PostgreSQL server would/],
])('a server that sends %s', { timeout: 60_000 }, (_, answer, message) => {
  it('costs only the mirror: polls go on, the page answers, and a stop is in time', async () => {
    const address = await answerWith(() => answer);
    const env = { LEAGUE_SYNC_POSTGRES_URL: `postgresql://somebody@${address}/x?sslmode=disable` };
    const { worker, url } = await serve(await setUp(), env);
    await worker.waitForPoll('changed');
    await worker.pollNow('unchanged');
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const findFault = () => worker.log().find(({ output, level }) => output === 'mirror' && level === 40);
    expect((await eventually('the mirror fails, perhaps before the poll ends', findFault)).msg).toMatch(message);
    expect((await stopInTime(worker)).code).toBe(0);
  });
});

/** Asks for the password in plain text, and puts it into its message. */
const repeat = (received: string, index: number): string => {
  if (index === 0) return 'R\0\0\0\b\0\0\0\x03';
  const fields = `SFATAL\0C28P01\0Mpassword authentication failed: ${received.slice(5, -1)}\0\0`;
  return `E${String.fromCharCode(0, 0, 0, fields.length + 4)}${fields}`;
};

it('no message tells a password that the server repeats, wherever it came from', async () => {
  const bench = await setUpSynced();
  const PGPASSFILE = join(bench.folder, 'pgpass');
  writeFileSync(PGPASSFILE, '*:*:*:*:repeated-word\n', { mode: 0o600 });
  for (const [query, variables] of [
    ['&password=repeated-word', {}],
    ['', { PGPASSWORD: 'repeated-word' }],
    ['', { PGPASSFILE }],
  ] as const) {
    const url = `postgresql://somebody@${await answerWith(repeat)}/x?sslmode=disable${query}`;
    const { code, stderr } = await bench.run(['mirror'], { LEAGUE_SYNC_POSTGRES_URL: url, ...variables });
    const message = 'cannot be used: password authentication failed: [secret] (28P01)';
    expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([1, expect.stringContaining(message)]);
  }
});
