import { chmodSync, copyFileSync, readdirSync, renameSync, statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { withReader } from '../../src/store/connection.ts';
import { partOf, type Replaceable, refuseReplacing, replaceCopy } from '../../src/store/copy.ts';
import { kinshipOf } from '../../src/store/origin.ts';
import { createTestClock } from '../support/clock.ts';
import { openTestStore } from '../support/store.ts';
import { dumpTables, type Folder, makeFolder, withDatabase } from '../support/workplace.ts';

/** Makes a database without any rows, at this instant. */
async function makeEmpty(folder: Folder, name: string, at: string): Promise<string> {
  const path = folder.file(name);
  const store = await openTestStore(path, { clock: createTestClock(Date.parse(at)) });
  await store[Symbol.asyncDispose]();
  return path;
}

/** A poll that found a league at this instant. */
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
  withReader(path, (db) => replaceCopy(db, target, { part: partOf(target), replaceable }));
}

const MADE = '2026-11-20T12:00:00.000Z';
const [ONE, TWO, THREE] = ['2026-11-20T12:05:00.000Z', '2026-11-20T12:10:00.000Z', '2026-11-20T12:15:00.000Z'];

describe('a file is to a database', () => {
  it('an earlier copy of it, whatever was added since', async () => {
    using folder = makeFolder();
    const path = await makeEmpty(folder, 'leagues.db', MADE);
    const target = folder.file('copy.db');
    publish(path, target);
    expect(kinshipOf(target, path)).toBe('earlier');
    for (const at of [ONE, TWO]) {
      poll(path, at);
      expect(kinshipOf(target, path)).toBe('earlier');
      publish(path, target);
    }
    expect(kinshipOf(target, path)).toBe('earlier');
  });

  it.each([
    ['before its first row', []],
    ['of a later one', [ONE]],
  ])('a copy that has diverged, where it was restored from a backup %s', async (_, polled) => {
    using folder = makeFolder();
    const path = await makeEmpty(folder, 'leagues.db', MADE);
    const [target, backup] = [folder.file('copy.db'), folder.file('backup.db')];
    for (const at of polled) poll(path, at);
    copyFileSync(path, backup);
    poll(path, TWO);
    publish(path, target);
    copyFileSync(backup, path);
    expect(kinshipOf(target, path)).toBe('diverged');
    const { ino } = statSync(target);
    publish(path, target);
    expect(statSync(target).ino).not.toBe(ino);
    expect(kinshipOf(target, path)).toBe('earlier');
  });

  it('foreign, where it was made at another instant, with rows or without', async () => {
    using folder = makeFolder();
    const path = await makeEmpty(folder, 'leagues.db', MADE);
    const other = await makeEmpty(folder, 'other.db', '2026-11-20T12:00:00.001Z');
    expect(kinshipOf(other, path)).toBe('foreign');
    for (const file of [path, other]) poll(file, ONE);
    expect(kinshipOf(other, path)).toBe('foreign');
    chmodSync(other, 0o444);
    expect(() => publish(path, other)).toThrow('is no copy of the database');
  });

  it('foreign, where it was made at the same instant and began otherwise', async () => {
    using folder = makeFolder();
    const path = await makeEmpty(folder, 'leagues.db', MADE);
    const other = await makeEmpty(folder, 'other.db', MADE);
    poll(path, ONE);
    poll(other, TWO);
    chmodSync(other, 0o444);
    expect(kinshipOf(other, path)).toBe('foreign');
    expect(() => publish(path, other)).toThrow('is no copy of the database');
  });
});

describe('a copy that has diverged', () => {
  async function makeDiverged(folder: Folder) {
    const path = await makeEmpty(folder, 'leagues.db', MADE);
    const [target, backup] = [folder.file('copy.db'), folder.file('backup.db')];
    poll(path, ONE);
    copyFileSync(path, backup);
    poll(path, TWO);
    publish(path, target);
    copyFileSync(backup, path);
    return { path, target };
  }

  it('is not replaced where it is kept before an upgrade', async () => {
    using folder = makeFolder();
    const { path, target } = await makeDiverged(folder);
    const { ino } = statSync(target);
    expect(() => publish(path, target, 'earlier')).toThrow('holds what is not in the database');
    expect(statSync(target).ino).toBe(ino);
  });

  it('is not replaced where it can be written: somebody may have made it a database of their own', async () => {
    using folder = makeFolder();
    const { path, target } = await makeDiverged(folder);
    chmodSync(target, 0o600);
    expect(() => refuseReplacing(target, path, 'published')).toThrow('holds what is not in the database');
  });

  it('is replaced also when the database has more runs and changes by then', async () => {
    using folder = makeFolder();
    const { path, target } = await makeDiverged(folder);
    poll(path, THREE);
    poll(path, '2026-11-20T12:20:00.000Z');
    expect(kinshipOf(target, path)).toBe('diverged');
    publish(path, target);
    expect(kinshipOf(target, path)).toBe('earlier');
  });
});

/** A connection by which something happens as soon as a copy is written, before it is put into its place. */
function withMeanwhile(db: Database.Database, meanwhile: () => void): Database.Database {
  const prepare = (sql: string) => {
    const statement = db.prepare(sql);
    return {
      run: (file: string) => {
        statement.run(file);
        meanwhile();
      },
    };
  };
  return new Proxy(db, {
    get: (target, name) => (name === 'prepare' ? prepare : Reflect.get(target, name, target)),
  });
}

describe('a process that copies and comes late', () => {
  const NOW = { part: '', replaceable: 'published' } as const;

  it.each([
    ['after another one has published a later state', (path: string) => poll(path, THREE)],
    ['after the database was restored', (path: string) => renameSync(`${path}.backup`, path)],
  ])('%s leaves that in its place', async (_, go) => {
    using folder = makeFolder();
    const path = await makeEmpty(folder, 'leagues.db', MADE);
    const target = folder.file('copy.db');
    poll(path, ONE);
    copyFileSync(path, `${path}.backup`);
    poll(path, TWO);
    let ino = 0;
    withReader(path, (db) => {
      const late = withMeanwhile(db, () => {
        go(path);
        publish(path, target);
        ino = statSync(target).ino;
      });
      replaceCopy(late, target, { ...NOW, part: partOf(target) });
    });
    expect(statSync(target).ino).toBe(ino);
    expect(dumpTables(target)).toEqual(dumpTables(path));
    expect(readdirSync(folder.path).filter((name) => name.includes('part'))).toEqual([]);
  });
});
