import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { type Bench, setUp, setUpSynced } from '../support/bench.ts';
import { withDatabase } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';

const WRITING = ['run', 'sync'] as const;
const READING = ['status', 'sync --dry-run'] as const;

/** Makes the database of another application, whose rows are in its log alone. */
function makeWithLog(path: string): void {
  const other = join(dirname(path), 'other.db');
  withDatabase(other, (db) => {
    db.pragma('journal_mode = wal');
    db.exec("CREATE TABLE letters (letter TEXT); INSERT INTO letters VALUES ('a')");
    for (const suffix of ['', '-wal']) copyFileSync(`${other}${suffix}`, `${path}${suffix}`);
  });
}

const FILES: Readonly<Record<string, (path: string) => void>> = {
  'one with a log that is not applied yet': makeWithLog,
  'a text': (path) => writeFileSync(path, 'Dear diary, this is no database.\n'.repeat(100)),
};

async function setUpWith(make: (path: string) => void): Promise<Bench> {
  const bench = await setUp();
  mkdirSync(dirname(bench.database));
  make(bench.database);
  return bench;
}

/** A database of ours, then altered by hand. */
async function setUpAltered(alter: (db: Database.Database) => void): Promise<Bench> {
  const bench = await setUpSynced();
  withDatabase(bench.database, alter);
  return bench;
}

function damage(db: Database.Database, sql: string): void {
  db.unsafeMode(true);
  db.pragma('writable_schema = 1');
  db.exec(sql);
}

async function expectRefusals(bench: Bench, commands: readonly string[]): Promise<void> {
  const before = fingerprint(bench.folder);
  for (const command of commands) await expectRefusal(bench, command, before);
}

async function expectRefusal(bench: Bench, command: string, before: ReturnType<typeof fingerprint>): Promise<void> {
  const args = command === 'query SELECT' ? ['query', 'SELECT * FROM leagues'] : command.split(' ');
  const { code, stderr } = await bench.run(args);
  expect(code, command).toBe(74);
  expect(stderr, command).toContain('data/leagues.db');
  expect(stderr, command).not.toMatch(/^\s+at /m);
  expect(fingerprint(bench.folder), command).toEqual(before);
}

describe('a file that is not ours', { timeout: 60_000 }, () => {
  it.each(Object.entries(FILES))(
    '%s is refused with 74 by every command, named, and left as it is',
    async (_, make) => {
      const bench = await setUpWith(make);
      await expectRefusals(bench, [...WRITING, ...READING]);
    },
  );

  it('a database whose tables are damaged is refused with 74 and left as it is', async () => {
    const bench = await setUpAltered((db) =>
      damage(db, "UPDATE sqlite_schema SET sql = 'CREATE TABLE broken (' WHERE name = 'leagues'"),
    );
    await expectRefusals(bench, [...WRITING, ...READING]);
  });

  it('a database whose pages are damaged is reported by every command that reads it, with 74', async () => {
    const bench = await setUpAltered((db) =>
      damage(db, "UPDATE sqlite_schema SET rootpage = 3 WHERE name IN ('leagues', 'runs')"),
    );
    await expectRefusals(bench, READING);
  });

  it.each([
    ['table', 'leagues'],
    ['view', 'attention'],
  ])(
    'a database with a view without end in the place of the %s %s is refused, and check says so',
    async (kind, name) => {
      const bench = await setUpAltered((db) => {
        db.pragma('foreign_keys = OFF');
        db.exec(`DROP ${kind} ${name}; CREATE VIEW ${name} AS
        WITH RECURSIVE n(league_id) AS (SELECT 1 UNION ALL SELECT league_id + 1 FROM n) SELECT league_id FROM n`);
      });
      await expectRefusals(bench, WRITING);
      const { code, stdout } = await bench.run(['check']);
      expect([code, stdout]).toEqual([
        1,
        expect.stringMatching(/^fail {2}database .* is not that of league-sync, but a view/m),
      ]);
    },
  );

  it.each(['sync', 'status'])(
    'a pipe or a device is refused with 74 by %s, which does not wait for it',
    async (command) => {
      const bench = await setUpWith((path) => {
        execFileSync('mkfifo', [path]);
        symlinkSync('/dev/null', `${path}-device`);
      });
      for (const database of [bench.database, `${bench.database}-device`]) {
        const { code, stderr } = await bench.run([command], { LEAGUE_SYNC_DATABASE: database });
        expect([code, stderr]).toEqual([
          74,
          expect.stringMatching(/is not a regular file; name a file for the database/),
        ]);
      }
      rmSync(bench.database);
    },
  );
});

describe('what lies in the place of a file beside the database', { timeout: 60_000 }, () => {
  it.each(['-wal', '.lock'])('a pipe at %s is refused without waiting for it', async (companion) => {
    const bench = await setUpWith(() => undefined);
    expect((await bench.run(['sync'])).code).toBe(0);
    execFileSync('mkfifo', [bench.database + companion]);
    const { code, stderr } = await bench.run(['sync']);
    expect([code, stderr]).toEqual([
      74,
      expect.stringMatching(/is not a regular file, but SQLite needs one there; remove it/),
    ]);
    expect((await bench.run(['status'])).code).toBe(companion === '.lock' ? 0 : 74);
  });

  it.each(['a folder', 'a link'])(
    '%s in place of the lock file is refused and named by check, and writes nothing elsewhere',
    async (what) => {
      const bench = await setUpWith(() => undefined);
      expect((await bench.run(['sync'])).code).toBe(0);
      if (what === 'a folder') mkdirSync(`${bench.database}.lock`);
      else symlinkSync(bench.database, `${bench.database}.lock`);
      const before = fingerprint(bench.folder);
      expect((await bench.run(['sync'])).code).toBe(74);
      const { code, stdout } = await bench.run(['check']);
      expect([code, stdout]).toEqual([1, expect.stringMatching(/fail .*leagues\.db\.lock is not a regular file/)]);
      expect(fingerprint(bench.folder)).toEqual(before);
    },
  );
});
