import Database from 'better-sqlite3';
import { DatabaseError, UsageError } from '../errors.ts';
import { toDatabaseError } from './database-error.ts';
import { isOrdinaryFile, requireOrdinary } from './database-file.ts';
import { foreign, isForeign, refuseForeign, rememberOwn } from './foreign.ts';
import { APPLICATION_ID } from './identity.ts';
import { beginWal, closeBehindReader, leaveOneFile } from './wal.ts';

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
  const db = open(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseForeign(db, path);
    rememberOwn(path);
    // Before the log is begun, so that a file with a log beside it and without our mark is never one of ours.
    const isReady = prepare(db);
    if (isReady) beginWal(db);
    // A plain closing would apply a log that lies there, and take it away.
    else closeBehindReader(db);
    return isReady ? db : undefined;
  } catch (error) {
    closeBehindReader(db);
    throw toDatabaseError(error, path);
  }
}

/** Reads from an existing database of this program. Throws a DatabaseError where there is none, or it is in trouble. */
export function readFrom<T>(path: string, read: (db: Database.Database) => T): T {
  return readBriefly(path, READER_TIMEOUT_MS, read);
}

/** As `readFrom`, at one instant, for a process that has other things to do: it waits for nobody. */
export function glance<T>(path: string, read: (db: Database.Database) => T): T {
  return readBriefly(path, BUSY_TIMEOUT_MS, (db) => db.transaction(() => read(db))());
}

function readBriefly<T>(path: string, timeout: number, read: (db: Database.Database) => T): T {
  const db = openExisting(path, { readonly: true, timeout });
  try {
    return read(db);
  } catch (error) {
    throw error instanceof UsageError ? error : toDatabaseError(error, path);
  } finally {
    db.close();
  }
}

/**
 * Writes to an existing database beside the worker that may have it open, with a log as the worker does, and leaves it
 * as it was. Waits for nobody, since a waiting writer keeps new readers out. Throws a DatabaseError.
 */
export function openBeside<T>(path: string, write: (db: Database.Database) => T): T {
  const db = openExisting(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    beginWal(db);
    return write(db);
  } catch (error) {
    throw toDatabaseError(error, path);
  } finally {
    // Where a killed worker left its log, nobody else would see to it that read-only tools can open the file. Where a
    // worker is at work, it keeps its log, and is not waited for.
    db.pragma('busy_timeout = 0');
    leaveOneFile(db);
    closeBehindReader(db);
  }
}

function openExisting(path: string, options: Database.Options): Database.Database {
  requireFile(path);
  const db = open(path, { ...options, fileMustExist: true });
  try {
    if (db.pragma('application_id', { simple: true }) === APPLICATION_ID) return db;
    refuseForeign(db, path);
    throw new DatabaseError(`The database ${path} is empty.`, { fix: 'start the worker, which fills it' });
  } catch (error) {
    db.close();
    throw toDatabaseError(error, path);
  }
}

function open(path: string, options: Database.Options): Database.Database {
  if (isForeign(path)) throw foreign(path);
  try {
    for (const companion of ['-journal', '-wal', '-shm']) requireOrdinary(path + companion);
    return new Database(path, options);
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

function requireFile(path: string): void {
  try {
    if (isOrdinaryFile(path)) return;
  } catch (error) {
    throw toDatabaseError(error, path);
  }
  throw new DatabaseError(`There is no database at ${path}.`, {
    fix: 'set LEAGUE_SYNC_DATABASE, or let the worker make it first',
  });
}
