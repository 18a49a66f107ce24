import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Bench, setUpSynced } from '../support/bench.ts';
import { execute, openConnection, withDatabase } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';

/** Without an index, the file is ours and not whole. */
const SPOIL = 'DROP INDEX league_changes_by_time';

/** The folder of a copy in WAL mode, of which these files are there. */
function keepOnly(folder: string, database: string, suffixes: readonly string[]): string {
  const path = join(folder, 'kept', 'leagues.db');
  mkdirSync(join(folder, 'kept'));
  withDatabase(database, (db) => {
    db.pragma('journal_mode = WAL');
    if (suffixes.includes('-wal')) db.exec(SPOIL);
    for (const suffix of ['', ...suffixes]) copyFileSync(database + suffix, path + suffix);
  });
  return path;
}

it.each<[string, (bench: Bench) => string | Promise<string>, number]>([
  ['the file of a stopped worker', ({ database }) => database, 0],
  [
    'a backup',
    async (bench) => {
      await bench.run(['backup', 'copy.db']);
      return 'copy.db';
    },
    0,
  ],
  ['a restored replica, in WAL mode and alone', ({ folder, database }) => keepOnly(folder, database, []), 0],
  ['a file with what its WAL says', ({ folder, database }) => keepOnly(folder, database, ['-wal']), 1],
  [
    'a file in use',
    ({ database }) => {
      const db = openConnection(database);
      db.pragma('journal_mode = WAL');
      db.exec(SPOIL);
      return database;
    },
    1,
  ],
])('verify reads %s, and leaves no file behind', async (_, make, code) => {
  const bench = await setUpSynced();
  const file = await make(bench);
  const before = Object.keys(fingerprint(bench.folder));
  const verified = await bench.runProcess(['verify', file]);
  expect([verified.code, verified.stderr, Object.keys(fingerprint(bench.folder))]).toEqual([code, '', before]);
  if (code === 1) expect(verified.stdout).toContain('not schema 2: index league_changes_by_time is missing');
  expect(verified.stdout).toMatch(/^ok {4}leagues {5}124 leagues, as the feed says from its start$/m);
});

it('verify finds one changed letter in a table that is not compared with the feed', async () => {
  const { database, run } = await setUpSynced();
  const bytes = readFileSync(database);
  const { started_at } = withDatabase(database, (db) => db.prepare('SELECT started_at FROM runs').get()) as {
    started_at: string;
  };
  bytes.write('P', bytes.indexOf(started_at) + '2026-11-27'.length);
  writeFileSync(database, bytes);
  expect((await run(['verify', database])).stdout).toContain('CHECK constraint failed in runs');
});

it('verify --against says how many changes a backup lacks, and that another database is another', async () => {
  const bench = await setUpSynced();
  await bench.run(['backup', 'copy.db']);
  execute(
    bench.database,
    "INSERT INTO league_changes (run_id, at, league_id, kind, before) VALUES (9, '2999-01-01T00:00:00.000Z', 'x', 'removed', '{}')",
  );
  const verify = async (...args: readonly string[]) => {
    const { code, stdout } = await bench.run(['verify', '--json', ...args]);
    return { code, lacks: JSON.parse(stdout).lacks, lines: stdout };
  };
  expect(await verify('copy.db', '--against', bench.database)).toMatchObject({ code: 0, lacks: 1 });
  expect((await verify(bench.database)).lines).toContain('change 125 (x) says removed, but the league was never added');
  const other = await setUpSynced();
  expect((await verify('copy.db', '--against', other.database)).code).toBe(1);
});

it('verify exits with 74 for what is not ours or not there', async () => {
  const bench = await setUpSynced();
  writeFileSync(join(bench.folder, 'notes.txt'), 'no database');
  execute(join(bench.folder, 'other.db'), 'CREATE TABLE t (a)');
  for (const file of ['notes.txt', 'other.db', 'none.db']) {
    const { code, stdout, stderr } = await bench.run(['verify', file]);
    expect([code, stdout, stderr], file).toEqual([74, '', expect.not.stringContaining('LEAGUE_SYNC_DATABASE')]);
  }
});

it('blames the file that is damaged, names a change whose `after` is no league, and a lost table', async () => {
  const bench = await setUpSynced();
  const copy = join(bench.folder, 'copy.db');
  copyFileSync(bench.database, copy);
  const [{ page } = { page: 0 }] = bench.rows("SELECT max(pageno) AS page FROM dbstat WHERE name = 'league_changes'");
  const bytes = readFileSync(copy);
  writeFileSync(copy, bytes.fill(0xff, (Number(page) - 1) * 4_096, Number(page) * 4_096), { mode: 0o600 });
  const against = await bench.run(['verify', bench.database, '--against', 'copy.db']);
  expect([against.code, against.stderr]).toEqual([74, expect.stringContaining('The database copy.db is damaged')]);
  // In WAL mode and without a WAL, a file is read in a copy, whose name is in no message.
  const alone = join(bench.folder, 'alone.db');
  copyFileSync(bench.database, alone);
  execute(alone, 'PRAGMA journal_mode = WAL; DROP TABLE runs');
  const foreign = await bench.run(['verify', bench.database, '--against', 'alone.db']);
  expect([foreign.code, foreign.stderr]).toEqual([74, expect.stringContaining('alone.db is the database of another')]);
  execute(
    bench.database,
    `DROP TRIGGER league_changes_no_update;
    INSERT INTO league_changes (run_id, at, league_id, kind, before, after)
    SELECT 1, at, league_id, 'changed', '{"priority":99}', '5' FROM league_changes ORDER BY seq DESC LIMIT 1`,
  );
  const spoilt = await bench.run(['verify', bench.database]);
  expect([spoilt.code, spoilt.stdout]).toEqual([1, expect.stringContaining('does not fit the version before it')]);
  execute(bench.database, 'ALTER TABLE runs RENAME TO lost');
  const lost = await bench.run(['verify', bench.database]);
  expect([lost.code, lost.stdout]).toEqual([1, expect.stringContaining('it lacks the table league_changes, runs or')]);
});
