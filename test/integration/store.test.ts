import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { DatabaseError, LockedError } from '../../src/errors.ts';
import { findPackage } from '../../src/package.ts';
import { openForWriting, withReader } from '../../src/store/connection.ts';
import { APPLICATION_ID, prepareFolder } from '../../src/store/database-file.ts';
import { readMigrations } from '../../src/store/migrate.ts';
import type { Store } from '../../src/store/store.ts';
import { enableWal } from '../../src/store/wal.ts';
import { acquireLock } from '../../src/store/worker-lock.ts';
import { createWallClock } from '../support/clock.ts';
import { execute, readRows, withDatabase } from '../support/database.ts';
import { type Folder, fingerprint, makeFolder } from '../support/folder.ts';
import { openTestStore } from '../support/store.ts';

const { migrations } = findPackage();
const NOW = Date.UTC(2026, 10, 20, 12);
const HOLDER = { pid: 4711, host: 'here', since: '2026-11-20T12:00:00.000Z' };

const CLOCK = createWallClock(() => NOW);

function openAt(path: string, { stop = new AbortController().signal, folder = migrations } = {}): Promise<Store> {
  return openTestStore(path, { migrations: folder, clock: CLOCK, stop });
}

/** Opens the database like a worker, and closes it cleanly. */
async function openAndClose(path: string): Promise<void> {
  await using _store = await openAt(path);
}

async function makeDatabase(folder: Folder): Promise<string> {
  const path = folder.file('leagues.db');
  await openAndClose(path);
  return path;
}

function openReady(path: string): Database.Database {
  const db = openForWriting(path);
  enableWal(db);
  return db;
}

function pragma(path: string, name: string): unknown {
  return withDatabase(path, (db) => db.pragma(name, { simple: true }));
}

describe('opening a database', () => {
  it('makes a new file with the application id and the newest schema', async () => {
    using folder = makeFolder();
    const path = await makeDatabase(folder);
    expect(pragma(path, 'application_id')).toBe(APPLICATION_ID);
    expect(pragma(path, 'user_version')).toBe(readMigrations(migrations).length);
    expect(pragma(path, 'integrity_check')).toBe('ok');
  });

  it('refuses an empty file beside a WAL that may have frames, not beside one that is only padded', async () => {
    using folder = makeFolder();
    const path = folder.write('leagues.db', '');
    folder.write('leagues.db-wal', '\0'.repeat(65));
    await expect(openAt(path)).rejects.toThrow(/leagues\.db is gone, but its WAL/);
    folder.write('leagues.db-wal', '\0'.repeat(64));
    await openAndClose(path);
  });

  it('refuses a restored file beside the WAL of the one before, for writing and for reading, and leaves both', async () => {
    using folder = makeFolder();
    const path = await makeDatabase(folder);
    folder.write('leagues.db-wal', 'x'.repeat(65));
    const before = fingerprint(folder.path);
    await expect(openAt(path)).rejects.toThrow(
      /leagues\.db-wal is of another file than .*; stop the worker if one runs; .*: mv -n /,
    );
    expect(() => withReader(path, () => undefined)).toThrow(/is of another file/);
    expect(fingerprint(folder.path)).toEqual(before);
  });

  it('records every migration with its sha256 and timestamp', async () => {
    using folder = makeFolder();
    const path = await makeDatabase(folder);
    const expected = readMigrations(migrations).map(({ version, name, sha256 }) => ({
      version,
      name,
      sha256,
      applied_at: '2026-11-20T12:00:00.000Z',
    }));
    expect(readRows(path, 'SELECT * FROM schema_migrations ORDER BY version')).toEqual(expected);
  });

  it.each([
    'CREATE TABLE t (a); DROP TABLE t; VACUUM',
    'PRAGMA user_version = 1',
    'PRAGMA journal_mode = WAL; PRAGMA user_version = 1',
  ])('counts a database without a table and without an application id as new: %s', async (sql) => {
    using folder = makeFolder();
    execute(folder.file('leagues.db'), sql);
    const path = await makeDatabase(folder);
    expect(pragma(path, 'application_id')).toBe(APPLICATION_ID);
    expect(pragma(path, 'user_version')).toBe(readMigrations(migrations).length);
    expect(readRows(path, 'SELECT count(*) AS n FROM leagues')).toEqual([{ n: 0 }]);
  });

  it.each([
    ['a new file', 0, ''],
    ['a file at its second opening', 1, ''],
    ['a file that a killed worker left in WAL mode', 1, 'PRAGMA journal_mode = WAL'],
  ])('sets WAL and synchronous=FULL on %s', async (_, openings, sql) => {
    using folder = makeFolder();
    const path = folder.file('leagues.db');
    for (let opening = 0; opening < openings; opening += 1) await openAndClose(path);
    if (sql !== '') execute(path, sql);
    const db = openReady(path);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(db.pragma('synchronous', { simple: true })).toBe(2);
    // SQLite cuts the WAL to this size when a reader has gone that kept it from being written back.
    expect(db.pragma('journal_size_limit', { simple: true })).toBe(16 * 2 ** 20);
    db.close();
  });
});

describe('a file that is not ours', () => {
  it.each([
    ['another application id', 'PRAGMA application_id = 12345'],
    ['tables and no application id', 'CREATE TABLE leagues (a)'],
    ['only a view and no application id', 'CREATE VIEW v AS SELECT 1'],
  ])('with %s is refused and left as it is', async (_, sql) => {
    using folder = makeFolder();
    const path = folder.file('leagues.db');
    execute(path, sql);
    const before = readFileSync(path);
    await expect(openAt(path)).rejects.toThrow(/database of another application/);
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder.path)).toEqual(['leagues.db']);
  });

  it('that is a folder is refused', async () => {
    using folder = makeFolder();
    await expect(openAt(folder.path)).rejects.toThrow(/is a folder; name a file for the database/);
  });
});

it.each([
  ['by a newer version', 'PRAGMA user_version = 99', /newer version/],
  [
    'by an edited migration',
    `UPDATE schema_migrations SET sha256 = '${'0'.repeat(64)}'`,
    /different version of migration/,
  ],
  ['by a missing record', 'DELETE FROM schema_migrations', /different version of migration/],
])('a database that is refused %s stays byte for byte as it is, with nothing beside it', async (_, sql, message) => {
  using folder = makeFolder();
  const path = await makeDatabase(folder);
  execute(path, sql);
  const before = readFileSync(path);
  await expect(openAt(path)).rejects.toThrow(message);
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(folder.path)).toEqual(['leagues.db']);
});

describe.concurrent('other programs in the way', () => {
  it('a reader in the middle of a transaction makes the opening wait, not fail', async () => {
    using folder = makeFolder();
    const path = await makeDatabase(folder);
    const reader = new Database(path, { readonly: true });
    reader.exec('BEGIN; SELECT count(*) FROM leagues');
    const opening = openAt(path);
    const first = await Promise.race([opening.then(() => 'opened'), turning(400)]);
    reader.close();
    await using store = await opening;
    expect(first).toBe('turning');
    expect(store.leagues.index('all').live.size).toBe(0);
  });

  it('see their rows in the next index, though it is cached', async () => {
    using folder = makeFolder();
    const path = folder.file('leagues.db');
    await using store = await openAt(path);
    const add = (id: string, status: string): void =>
      withDatabase(path, (db) => {
        const values = `'${id}', 'n', 's', 'i', 1, '${status}', '{}', '${HOLDER.since}', '${HOLDER.since}', 'hash-${id}'`;
        db.exec(`INSERT INTO leagues (league_id, league_name, sport, league_image, priority, status, extra,
          first_seen_at, changed_at, content_hash) VALUES (${values})`);
      });
    add('a', 'active');
    expect(store.leagues.index('all')).toMatchObject({ live: new Map([['a', 'hash-a']]), others: new Map() });
    add('b', 'inactive');
    expect([...store.leagues.index('all').live.keys()]).toEqual(['a', 'b']);
    expect(store.leagues.index('active')).toMatchObject({
      live: new Map([['a', 'hash-a']]),
      others: new Map([['b', { hash: 'hash-b', removed: false }]]),
    });
  });
});

const LOGIN = { at: '2026-11-20T12:00:00.000Z', outcome: 'ok', reason: 'start' } as const;

/** A busy machine takes far longer than the 25 ms for which SQLite waits, but not as long as the 5 s of better-sqlite3. */
const LONGEST_STANDSTILL_MS = 4_000;

/** Waits, and expects that the event loop turns meanwhile: SQLite's own wait for a lock would block it. */
async function turning(ms: number): Promise<string> {
  const loop = monitorEventLoopDelay();
  loop.enable();
  await sleep(ms);
  loop.disable();
  expect(loop.max).toBeLessThan(LONGEST_STANDSTILL_MS * 1_000_000);
  return 'turning';
}

describe.concurrent('closing', () => {
  it('leaves a file that can be read from a read-only folder', async () => {
    using folder = makeFolder();
    const path = await makeDatabase(folder);
    const immutable = readFileSync(path);
    // The two format bytes of a database in WAL mode are 2; even readers then need -wal and -shm.
    expect([immutable[18], immutable[19]]).toEqual([1, 1]);
    expect(readRows(path, 'SELECT count(*) AS n FROM leagues')).toEqual([{ n: 0 }]);
    expect(readdirSync(folder.path)).toEqual(['leagues.db']);
  });

  it('leaves an empty WAL if a reader is connected, and the reader goes on', async () => {
    using folder = makeFolder();
    const path = folder.file('leagues.db');
    const store = await openAt(path);
    const reader = new Database(path, { readonly: true });
    expect(reader.prepare('SELECT count(*) FROM runs').pluck().get()).toBe(0);
    await store.write(() => store.logins.add(LOGIN));
    await store[Symbol.asyncDispose]();
    expect(statSync(`${path}-wal`).size).toBe(0);
    expect(reader.prepare('SELECT count(*) FROM logins').pluck().get()).toBe(1);
    reader.close();
  });

  it('loses nothing if a reader has a transaction open', async () => {
    using folder = makeFolder();
    const path = folder.file('leagues.db');
    const store = await openAt(path);
    const reader = new Database(path, { readonly: true });
    reader.exec('BEGIN');
    expect(reader.prepare('SELECT count(*) FROM logins').pluck().get()).toBe(0);
    await store.write(() => store.logins.add(LOGIN));
    await store[Symbol.asyncDispose]();
    expect(reader.prepare('SELECT count(*) FROM logins').pluck().get()).toBe(0);
    reader.close();
    expect(readRows(path, 'SELECT count(*) AS n FROM logins')).toEqual([{ n: 1 }]);
  });
});

it('counts the failed logins of one run as one lasting failure, and none that a timeout ended', async () => {
  using folder = makeFolder();
  const path = folder.file('leagues.db');
  await using store = await openAt(path);
  execute(
    path,
    `INSERT INTO runs (kind, trigger, scope, started_at, outcome, error_kind, http_status)
      VALUES ('leagues', 'manual', 'all', '${LOGIN.at}', 'failed', 'status', 404),
        ('leagues', 'manual', 'all', '${LOGIN.at}', 'failed', 'status', 408)`,
  );
  const failed = { ...LOGIN, outcome: 'failed', run_id: 1, fingerprint: 'of' } as const;
  for (const error_message of ['status 503', 'status 404'])
    await store.write(() => store.logins.add({ ...failed, error_message }));
  await store.write(() => store.logins.add({ ...failed, run_id: 2 }));
  expect(store.read(() => store.logins.lastingFailures('of'))).toMatchObject([{ error_message: 'status 404' }]);
});

const LATER_LOGIN = { ...LOGIN, at: '2026-11-20T12:00:01.000Z', reason: 'due' } as const;

describe('a file that goes away underneath', () => {
  it.each<[string, (path: string) => void]>([
    ['moved', (path) => renameSync(path, `${path}.moved`)],
    ['moved with its folder', (path) => renameSync(dirname(path), `${dirname(path)}.moved`)],
    ['replaced by a backup', (path) => renameSync(`${path}.backup`, path)],
    ['deleted', (path) => rmSync(path)],
  ])(
    'since it was %s is neither written nor recreated, and all that it held is in the file that is named',
    async (what, remove) => {
      using folder = makeFolder();
      const path = prepareFolder(join(folder.path, 'data', 'leagues.db'));
      const store = await openAt(path);
      await store.write(() => store.logins.add(LOGIN));
      execute(path, `VACUUM INTO '${path}.backup'`);
      const { mode } = statSync(path);
      await store.write(() => store.logins.add(LATER_LOGIN));
      remove(path);
      await expect(store.write(() => undefined)).rejects.toThrow(/deleted, moved or replaced/);
      const [, saved = ''] = /all that it held is in (\S+?);/.exec(store.writeError()?.message ?? '') ?? [];
      const logins = (file: string) => readRows(file, 'SELECT count(*) AS n FROM logins');
      expect(statSync(saved).mode).toBe(mode);
      // A kill at this moment loses nothing, nor does a clean end.
      expect(logins(saved)).toEqual([{ n: 2 }]);
      await store[Symbol.asyncDispose]();
      expect([logins(saved), pragma(saved, 'integrity_check')]).toEqual([[{ n: 2 }], 'ok']);
      if (what === 'replaced by a backup')
        expect([logins(path), pragma(path, 'integrity_check')]).toEqual([[{ n: 1 }], 'ok']);
      else expect(existsSync(path)).toBe(false);
    },
  );

  it('is not written any more once an earlier state of it was put over it, in WAL mode too', async () => {
    using folder = makeFolder();
    const [path, earlier] = [folder.file('leagues.db'), folder.file('earlier.db')];
    await using store = await openAt(path);
    execFileSync('cp', [path, earlier]);
    execute(path, 'CREATE TABLE notes (a); PRAGMA wal_checkpoint');
    expect(store.writeError()).toBeUndefined();
    execFileSync('cp', [earlier, path]);
    await expect(store.write(() => undefined)).rejects.toThrow(/Another program has overwritten/);
  });

  it('leaves another file that was put over it as it is, also if the WAL was moved away', async () => {
    using folder = makeFolder();
    const [path, backup] = [await makeDatabase(folder), folder.file('backup.db')];
    execFileSync('cp', [path, backup]);
    {
      await using store = await openAt(path);
      await store.write(() => store.logins.add(LOGIN));
      execFileSync('cp', [backup, path]);
      renameSync(`${path}-wal`, folder.file('old-wal'));
    }
    expect(readFileSync(path).equals(readFileSync(backup))).toBe(true);
  });

  it('gets the rest of its WAL as soon as no reader keeps that back', async () => {
    using folder = makeFolder();
    const [path, moved] = [folder.file('leagues.db'), folder.file('moved.db')];
    await using store = await openAt(path);
    await store.write(() => store.logins.add(LOGIN));
    const reader = new Database(path, { readonly: true });
    reader.exec('BEGIN; SELECT * FROM runs');
    reader.prepare('SELECT count(*) FROM logins').get();
    await store.write(() => store.logins.add(LATER_LOGIN));
    execFileSync('mv', [path, moved]);
    expect(store.writeError()?.message).toContain('what it held could not be saved');
    reader.close();
    expect(store.writeError()?.message).toContain(`all that it held is in ${moved}`);
    await store[Symbol.asyncDispose]();
    expect(readRows(moved, 'SELECT count(*) AS n FROM logins')).toEqual([{ n: 2 }]);
    expect(readdirSync(folder.path)).toEqual(['moved.db']);
  });
});

describe('the lock', () => {
  it('leaves no file when it is released, and can be taken again', () => {
    using folder = makeFolder();
    const path = folder.file('leagues.db');
    for (let time = 0; time < 3; time += 1) {
      acquireLock(path, HOLDER)[Symbol.dispose]();
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  it('is one lock under a link to a database that is not there yet', async () => {
    using folder = makeFolder();
    const link = folder.file('link.db');
    symlinkSync(folder.file('real.db'), link);
    const path = prepareFolder(link);
    using _lock = acquireLock(path, HOLDER);
    await using _store = await openAt(path);
    expect(() => acquireLock(prepareFolder(link), HOLDER)).toThrow(LockedError);
    expect(() => acquireLock(prepareFolder(folder.file('real.db')), HOLDER)).toThrow(LockedError);
  });

  it('is refused under a circle of links', () => {
    using folder = makeFolder();
    symlinkSync(folder.file('b.db'), folder.file('a.db'));
    symlinkSync(folder.file('a.db'), folder.file('b.db'));
    expect(() => prepareFolder(folder.file('a.db'))).toThrow(DatabaseError);
  });

  it('is one lock through a linked folder, also while there is no database yet', async () => {
    using folder = makeFolder();
    const real = makeFolder();
    symlinkSync(real.path, folder.file('data'));
    using _lock = acquireLock(prepareFolder(join(folder.path, 'data', 'leagues.db')), HOLDER);
    expect(() => acquireLock(prepareFolder(real.file('leagues.db')), HOLDER)).toThrow(LockedError);
    real[Symbol.dispose]();
  });
});
