import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { DatabaseError } from '../errors.ts';
import { toDatabaseError } from './fault.ts';
import { APPLICATION_ID } from './schema.ts';

/** A wait inside SQLite stops the whole process, so it is short; whoever can wait longer does so outside. */
const BUSY_TIMEOUT_MS = 50;
/** Readers in one-shot commands have nothing else to do. */
const READER_TIMEOUT_MS = 2_000;
/** A log that grew under a long reader shrinks back to this. */
const LOG_LIMIT_BYTES = 16 * 2 ** 20;

/** Makes the folder of the database and says where the file really lies, so that two names share one lock. */
export function prepareFolder(path: string): string {
  const absolute = resolve(path);
  try {
    mkdirSync(dirname(absolute), { recursive: true });
    return statSync(absolute, { throwIfNoEntry: false }) === undefined
      ? join(realpathSync(dirname(absolute)), basename(absolute))
      : realpathSync(absolute);
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

/**
 * Opens the database for the worker, making it where there is none. A file that is not ours is left as it is.
 * Throws a DatabaseError that names the file and the mend.
 */
export function openForWriting(path: string): Database.Database {
  const db = open(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseForeign(db, path);
    db.pragma('journal_mode = WAL');
    // A later connection to a WAL file would get NORMAL, and a reported poll could be lost with the power.
    db.pragma('synchronous = FULL');
    db.pragma(`journal_size_limit = ${LOG_LIMIT_BYTES}`);
    return db;
  } catch (error) {
    db.close();
    throw toDatabaseError(error, path);
  }
}

/** Opens an existing database of this program for reading. Throws a DatabaseError where there is none. */
export function openForReading(path: string): Database.Database {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    throw new DatabaseError(
      `There is no database at ${path}; set LEAGUE_SYNC_DATABASE, or let the worker make it first.`,
    );
  }
  const db = open(path, { readonly: true, timeout: READER_TIMEOUT_MS });
  try {
    const id = db.pragma('application_id', { simple: true });
    if (id !== APPLICATION_ID) throw foreign(path);
    return db;
  } catch (error) {
    db.close();
    throw toDatabaseError(error, path);
  }
}

/** Ends the worker's connection so that one file is left that any tool can open, read-only mounts included. */
export function closeForReaders(db: Database.Database): void {
  if (!db.open) return;
  try {
    db.pragma('journal_mode = DELETE');
  } catch {
    // A reader is connected: it keeps the log, and finds it emptied.
    tryCheckpoint(db);
  }
  db.close();
}

function tryCheckpoint(db: Database.Database): void {
  try {
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // The log stays as it is: whole, readable, and applied at the next start.
  }
}

function open(path: string, options: Database.Options): Database.Database {
  try {
    return new Database(path, options);
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

function refuseForeign(db: Database.Database, path: string): void {
  const id = db.pragma('application_id', { simple: true });
  if (id === APPLICATION_ID) return;
  const tables = db.prepare<[], { n: number }>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
  if (id !== 0 || tables > 0) throw foreign(path);
}

function foreign(path: string): DatabaseError {
  return new DatabaseError(
    `The file ${path} is the database of another application and is left as it is; name another file in LEAGUE_SYNC_DATABASE.`,
  );
}
