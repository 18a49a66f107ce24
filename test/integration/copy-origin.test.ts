import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assertReplaceable, type Replaceable, replaceCopy, tempPath } from '../../src/store/atomic-copy.ts';
import { withReader } from '../../src/store/connection.ts';
import { compareCopy } from '../../src/store/copy-origin.ts';
import { APPLICATION_ID } from '../../src/store/database-file.ts';
import { createTestClock } from '../support/clock.ts';
import { dumpTables, execute, openConnection, withDatabase } from '../support/database.ts';
import { type Folder, fingerprint, makeFolder } from '../support/folder.ts';
import { openTestStore } from '../support/store.ts';

const MADE = '2026-11-20T12:00:00.000Z';
const [ONE, TWO] = ['2026-11-20T12:05:00.000Z', '2026-11-20T12:10:00.000Z'];

let folder: Folder;
let path = '';
let target = '';

beforeEach(async () => {
  folder = makeFolder();
  path = await makeEmpty('leagues.db', MADE);
  target = folder.file('copy.db');
});
afterEach(() => folder[Symbol.dispose]());

/** Creates a database without any rows at this time. */
async function makeEmpty(name: string, at: string): Promise<string> {
  const file = folder.file(name);
  const store = await openTestStore(file, { clock: createTestClock(Date.parse(at)) });
  await store[Symbol.asyncDispose]();
  return file;
}

/** Inserts the rows of a poll that added a league at this time. */
function poll(path: string, at: string): void {
  withDatabase(path, (db) => {
    const { lastInsertRowid: run } = db
      .prepare(
        `INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome, attempts, received, added, fingerprint, program_version)
          VALUES ('leagues', 'schedule', 'all', ?, ?, 'changed', 1, 1, 1, 'f', '1')`,
      )
      .run(at, at);
    db.prepare(
      "INSERT INTO league_changes (run_id, at, league_id, kind, after) VALUES (?, ?, 'l1', 'added', '{}')",
    ).run(run, at);
  });
}

function publish(path: string, target: string, replaceable: Replaceable = 'published'): void {
  withReader(path, (db) => replaceCopy(db, target, { part: tempPath(target), replaceable, isParentAlive: () => true }));
}

/** Restores the database from a backup after these polls; the copy has the poll after that. */
function makeDiverged(polled: readonly string[] = [ONE]): void {
  const backup = folder.file('backup.db');
  for (const at of polled) poll(path, at);
  copyFileSync(path, backup);
  poll(path, TWO);
  publish(path, target);
  copyFileSync(backup, path);
}

describe('a file is to a database', () => {
  it('an earlier copy of it, even if rows were added since', async () => {
    publish(path, target);
    expect(compareCopy(target, path)).toBe('earlier');
    for (const at of [ONE, TWO]) {
      poll(path, at);
      expect(compareCopy(target, path)).toBe('earlier');
      publish(path, target);
    }
    expect(compareCopy(target, path)).toBe('earlier');
  });

  it.each([
    ['before its first row', []],
    ['of a later one', [ONE]],
  ])('a diverged copy if the database was restored from a backup %s', (_, polled) => {
    makeDiverged(polled);
    expect(compareCopy(target, path)).toBe('diverged');
    const { ino } = statSync(target);
    publish(path, target);
    expect(statSync(target).ino).not.toBe(ino);
    expect(compareCopy(target, path)).toBe('earlier');
  });

  it('a diverged copy if the restored database has other changes, and its run of that number was deleted', () => {
    makeDiverged();
    poll(path, '2026-11-20T12:15:00.000Z');
    execute(path, 'UPDATE runs SET id = 3 WHERE id = 2');
    expect(compareCopy(target, path)).toBe('diverged');
  });

  it('foreign if it was created at another time, with rows or without', async () => {
    const other = await makeEmpty('other.db', '2026-11-20T12:00:00.001Z');
    expect(compareCopy(other, path)).toBe('foreign');
    for (const file of [path, other]) poll(file, ONE);
    expect(compareCopy(other, path)).toBe('foreign');
    chmodSync(other, 0o444);
    expect(() => publish(path, other)).toThrow('is not a copy of the database');
  });
});

/** Makes what is in the place of a copy of the database. */
type Make = (target: string, database: string) => void;

it.each<[string, Make]>([
  ['a text file', (target) => writeFileSync(target, 'Dear diary')],
  ['a folder', (target) => mkdirSync(target)],
  ['a database of another application', (target) => execute(target, 'CREATE TABLE letters (letter TEXT)')],
  ['another name of the database', (target, database) => linkSync(database, target)],
  ['a link to the database', (target, database) => symlinkSync(database, target)],
  [
    'a database with a view without end',
    (target) =>
      execute(
        target,
        `PRAGMA application_id = ${APPLICATION_ID};
        CREATE VIEW schema_migrations AS WITH RECURSIVE n(version) AS (SELECT 1 UNION ALL SELECT version + 1 FROM n)
          SELECT version, 'x' AS applied_at FROM n`,
      ),
  ],
  [
    'a copy that another program is writing',
    (target, database) => {
      copyFileSync(database, target);
      const db = openConnection(target);
      db.pragma('journal_mode = WAL');
      db.exec('DELETE FROM runs');
    },
  ],
])('a file that is no copy of the database is %s, left as it is', (_, make) => {
  poll(path, ONE);
  make(target, path);
  const before = fingerprint(folder.path);
  expect(compareCopy(target, path)).toBe('foreign');
  expect(() => publish(path, target)).toThrow('is not a copy of the database');
  expect(fingerprint(folder.path)).toEqual(before);
});

it('a copy in WAL mode that no program has open is foreign, with nothing made beside it', async () => {
  publish(path, target);
  chmodSync(target, 0o600);
  execute(target, 'PRAGMA journal_mode = WAL');
  expect(compareCopy(target, path)).toBe('foreign');
  expect(readdirSync(folder.path).sort()).toEqual(['copy.db', 'leagues.db']);
});

describe('a copy that has diverged', () => {
  it('is not replaced by the copy before an upgrade', async () => {
    makeDiverged();
    const { ino } = statSync(target);
    expect(() => publish(path, target, 'earlier')).toThrow('has data that is not in the database');
    expect(statSync(target).ino).toBe(ino);
  });

  it('is not replaced if it is writable, since it may be used as a database', async () => {
    makeDiverged();
    chmodSync(target, 0o600);
    expect(() => assertReplaceable(target, path, 'published')).toThrow('has data that is not in the database');
  });
});

it('a copy is not made beside the WAL of an earlier file, which SQLite would apply to it', () => {
  writeFileSync(`${target}-wal`, '');
  expect(() => assertReplaceable(target, path, 'published')).toThrow('copy.db-wal is there');
});

it('a copy process that outlives its parent does not replace a newer copy', async () => {
  poll(path, ONE);
  let ino = 0;
  const isWanted = (): boolean => {
    poll(path, TWO);
    publish(path, target);
    ino = statSync(target).ino;
    return false;
  };
  withReader(path, (db) =>
    replaceCopy(db, target, { part: tempPath(target), replaceable: 'published', isParentAlive: isWanted }),
  );
  expect(statSync(target).ino).toBe(ino);
  expect(dumpTables(target)).toEqual(dumpTables(path));
  expect(readdirSync(folder.path).filter((name) => name.includes('part'))).toEqual([]);
});
