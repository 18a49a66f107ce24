import Database from 'better-sqlite3';
import { DatabaseError } from '../errors.ts';
import { explained, toDatabaseError } from './database-error.ts';
import { APPLICATION_ID, assertOurs, isOrdinaryFile, refuseForeign, requireOrdinary } from './database-file.ts';
import { closeKeepingReadable, enableWal, leaveWalMode } from './wal.ts';

/** A wait inside SQLite stops the whole process, so it is short; whoever can wait longer does so outside. */
const BUSY_TIMEOUT_MS = 25;
/** Readers in one-shot commands have nothing else to do. */
const READER_TIMEOUT_MS = 2_000;

/**
 * Opens the database for the worker, making it where there is none. `prepare` brings its schema up to date; it may
 * refuse the file by throwing, or put the opening off by saying false, and nothing is opened then. A file that is
 * refused, put off, or not ours is left byte for byte as it is. Throws a DatabaseError that names the file and the fix.
 */
export function openForWriting(
  path: string,
  prepare: (db: Database.Database) => boolean,
): Database.Database | undefined {
  refuseForeign(path);
  const db = open(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    assertOurs(db, path);
    // Before the WAL is begun, so that a file with a WAL beside it and without our mark is never one of ours.
    const isReady = prepare(db);
    if (isReady) enableWal(db);
    // A plain closing would apply a WAL that lies there, and take it away.
    else closeKeepingReadable(db);
    return isReady ? db : undefined;
  } catch (error) {
    closeKeepingReadable(db);
    throw toDatabaseError(error, path);
  }
}

type Read<T> = (db: Database.Database) => T;

/**
 * Reads from an existing database of this program. Throws a DatabaseError where there is none, or it is in trouble. Not
 * for a process that has the database open (see `readHeader`).
 */
export function withReader<T>(path: string, read: Read<T>): T {
  refuseForeign(path);
  return withOwnReader(path, read);
}

/** As `withReader`, for a file that is known to be ours. */
export function withOwnReader<T>(path: string, read: Read<T>, timeout: number = READER_TIMEOUT_MS): T {
  const db = openExisting(path, { readonly: true, timeout });
  try {
    return explained(path, () => read(db));
  } finally {
    db.close();
  }
}

/** As `withOwnReader`, at one instant, for a process that has other things to do: it waits for nobody. */
export function withOwnSnapshot<T>(path: string, read: Read<T>): T {
  return withOwnReader(path, (db) => db.transaction(() => read(db))(), BUSY_TIMEOUT_MS);
}

/**
 * Writes to an existing database of ours beside the worker that may have it open, with a WAL as the worker does, and
 * leaves it as it was. Waits for nobody, since a waiting writer keeps new readers out. Throws a DatabaseError.
 */
export function withSecondWriter<T>(path: string, write: (db: Database.Database) => T): T {
  const db = openExisting(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    return explained(path, () => {
      enableWal(db);
      return write(db);
    });
  } finally {
    // If a killed worker left its WAL, nobody else would see to it that read-only tools can open the file. A worker that
    // runs keeps its WAL, and is not waited for.
    db.pragma('busy_timeout = 0');
    leaveWalMode(db);
    closeKeepingReadable(db);
  }
}

function openExisting(path: string, options: Database.Options): Database.Database {
  if (!isOrdinaryFile(path)) {
    const fix = 'set LEAGUE_SYNC_DATABASE, or let the worker make it first';
    throw new DatabaseError(`There is no database at ${path}.`, { fix });
  }
  const db = open(path, { ...options, fileMustExist: true });
  try {
    if (db.pragma('application_id', { simple: true }) === APPLICATION_ID) return db;
    assertOurs(db, path);
    throw new DatabaseError(`The database ${path} is empty.`, { fix: 'start the worker, which fills it' });
  } catch (error) {
    db.close();
    throw toDatabaseError(error, path);
  }
}

function open(path: string, options: Database.Options): Database.Database {
  for (const companion of ['-journal', '-wal', '-shm']) requireOrdinary(path + companion);
  return explained(path, () => new Database(path, options));
}
