import { constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DatabaseError } from '../errors.ts';
import { aboutFile, explainErrors, toDatabaseError } from './database-error.ts';
import {
  APPLICATION_ID,
  assertHeaderOurs,
  assertOurs,
  assertRegularFile,
  isRegularFile,
  locateFile,
  quoteForShell,
  readHeader,
  sizeOf,
} from './database-file.ts';
import { closeKeepingReadable, enableWal, leaveWalMode } from './wal.ts';

/** Short, since SQLite blocks the event loop while it waits for a lock. Longer waits are asynchronous, in busy.ts. */
const BUSY_TIMEOUT_MS = 25;
const READER_TIMEOUT_MS = 2_000;

/** Opens the database, or creates an empty one. Throws a DatabaseError and changes nothing if the file is not ours. */
export function openForWriting(path: string): Database.Database {
  assertHeaderOurs(path);
  const db = open(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    assertOurs(db, path);
    return db;
  } catch (error) {
    closeKeepingReadable(db);
    throw toDatabaseError(error, path);
  }
}

type Read<T> = (db: Database.Database) => T;

/** Opens an existing database, which this process must not have open (see `readHeader`). Throws a DatabaseError. */
export function openReader(path: string, mayLackTables = false): Database.Database {
  assertHeaderOurs(path);
  return openExisting(path, { readonly: true, timeout: READER_TIMEOUT_MS }, mayLackTables);
}

/** Reads a database that `openReader` can open. Throws a DatabaseError. */
export function withReader<T>(path: string, read: Read<T>): T {
  assertHeaderOurs(path);
  return withOwnReader(path, read);
}

/** Like `withReader`, for a file known to be ours. Does not read its header, so this process may have the file open. */
export function withOwnReader<T>(path: string, read: Read<T>, timeout: number = READER_TIMEOUT_MS): T {
  const db = openExisting(path, { readonly: true, timeout });
  try {
    return explainErrors(path, () => read(db));
  } finally {
    db.close();
  }
}

/** Like `withOwnReader`, but in one transaction. Waits at most 25 ms for a lock, as waiting blocks the event loop. */
export function withOwnSnapshot<T>(path: string, read: Read<T>): T {
  return withOwnReader(path, (db) => db.transaction(() => read(db))(), BUSY_TIMEOUT_MS);
}

/** One state of the database for as long as the connection is open; otherwise like `withOwnSnapshot`. */
export function openOwnSnapshot(path: string): Database.Database {
  const db = openExisting(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    // A transaction begins to read one state with its first statement that reads the file.
    explainErrors(path, () => db.exec('BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1'));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * One state of a file that is to be looked at and left as it is, without a new file beside it. In WAL mode, SQLite makes
 * those that are missing, so that such a file is read in a copy, which has no name any more once it is open.
 */
export function openUntouched(path: string, mayLackTables = false): Database.Database {
  const file = locateFile(path);
  if (!isRegularFile(file)) throw new DatabaseError(`There is no file at ${file}.`);
  assertHeaderOurs(file);
  if (sizeOf(`${file}-journal`) > 0)
    throw new DatabaseError(`The database ${file} has an unfinished change in ${file}-journal.`, {
      fix: 'open it with a program that may write, such as the worker, which undoes that change',
    });
  const lacksWal = readHeader(file)?.isWal && ['-wal', '-shm'].some((suffix) => !existsSync(file + suffix));
  const openOne = (name: string) => openReader(name, mayLackTables);
  const openCopy = (copy: string) => {
    try {
      return openOne(copy);
    } catch (error) {
      throw aboutFile(error, copy, file);
    }
  };
  const db = lacksWal ? withTemporaryCopy(file, ['-wal'], openCopy) : openOne(file);
  db.exec('BEGIN');
  return db;
}

/** Calls `use` with the path of a copy, with those of its companions that exist, and deletes their names. */
export function withTemporaryCopy<T>(path: string, companions: readonly string[], use: (copy: string) => T): T {
  const folder = explainErrors(tmpdir(), () => mkdtempSync(join(tmpdir(), 'league-sync-')), 'copy');
  const copy = join(folder, 'copy.db');
  try {
    const copyOne = (suffix: string): void => copyFileSync(path + suffix, copy + suffix, constants.COPYFILE_FICLONE);
    const suffixes = [...companions.filter((suffix) => existsSync(path + suffix)), ''];
    explainErrors(`of ${path} in ${folder}`, () => suffixes.forEach(copyOne), 'copy');
    return use(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes to a database that a worker may have open. Waits 25 ms for a lock: no reader can start meanwhile. */
export function withSecondWriter<T>(path: string, write: Read<T>): T {
  const db = openExisting(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    return explainErrors(path, () => {
      enableWal(db);
      return write(db);
    });
  } finally {
    // Leaves a single file, which read-only tools can open. WAL mode stays if another program has the database open.
    db.pragma('busy_timeout = 0');
    leaveWalMode(db);
    closeKeepingReadable(db);
  }
}

function openExisting(path: string, options: Database.Options, mayLackTables = false): Database.Database {
  if (!isRegularFile(path)) throw missingError(path);
  const db = open(path, { ...options, fileMustExist: true });
  try {
    assertOurs(db, path, mayLackTables);
    if (db.pragma('application_id', { simple: true }) === APPLICATION_ID) return db;
    throw new DatabaseError(`The database ${path} is empty.`, { fix: 'start the worker, which fills it' });
  } catch (error) {
    db.close();
    throw toDatabaseError(error, path);
  }
}

/** A worker writes its lock file when it starts, and deletes it when it stops. On a full disk the lock file stays empty. */
export function missingError(path: string): DatabaseError {
  if (statSync(`${path}.lock`, { throwIfNoEntry: false })?.size) {
    const saved = `${path}.saved`;
    const place = existsSync(saved)
      ? `mv ${quoteForShell(saved)} ${quoteForShell(path)}`
      : 'the log of the worker says where all that it held is';
    return new DatabaseError(`The database ${path} is gone: a worker has used it and has not been stopped since.`, {
      fix: `stop the worker, put the database back (${place}), and start the worker`,
    });
  }
  const fix = 'check LEAGUE_SYNC_DATABASE or --database, or start the worker, which creates it';
  return new DatabaseError(`There is no database at ${path}.`, { fix });
}

function open(path: string, options: Database.Options): Database.Database {
  for (const suffix of ['-journal', '-wal', '-shm']) assertRegularFile(path + suffix);
  const db = explainErrors(path, () => new Database(path, options));
  // A container may have no writable folder for temporary files, which a large sort would need.
  db.pragma('temp_store = MEMORY');
  // A view or trigger of another program may use only what is harmless wherever it is called from.
  db.pragma('trusted_schema = OFF');
  return db;
}
