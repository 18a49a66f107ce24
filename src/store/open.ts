import { closeSync, lstatSync, mkdirSync, openSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { DatabaseError, UsageError } from '../errors.ts';
import { toDatabaseError } from './fault.ts';
import { APPLICATION_ID } from './identity.ts';

/** A wait inside SQLite stops the whole process, so it is short; whoever can wait longer does so outside. */
const BUSY_TIMEOUT_MS = 50;
/** Readers in one-shot commands have nothing else to do. */
const READER_TIMEOUT_MS = 2_000;
/** A log that grew under a long reader shrinks back to this. */
const LOG_LIMIT_BYTES = 16 * 2 ** 20;
/** How often, and with what rest between, a clean end waits for readers to let go of the log. */
const CLOSING_TRIES = 20;
const CLOSING_REST_MS = 100;
/** As many as the kernel follows. */
const MOST_LINKS = 40;

/** Makes the folder of the database and says where the file really lies, so that two names share one lock. */
export function prepareFolder(path: string): string {
  try {
    const absolute = followLinks(resolve(path));
    mkdirSync(dirname(absolute), { recursive: true });
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

/** Where a link leads, also when nothing is there yet: SQLite would make the file at its end. */
function followLinks(path: string): string {
  let end = path;
  for (let links = 0; links < MOST_LINKS; links += 1) {
    if (lstatSync(end, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return end;
    end = resolve(dirname(end), readlinkSync(end));
  }
  throw new DatabaseError(`The path ${path} is a circle of links; name the file itself in LEAGUE_SYNC_DATABASE.`);
}

/**
 * Opens the database for the worker, making it where there is none. `prepare` may refuse it, and brings its schema up
 * to date; a file that is refused, or that is not ours, is left byte for byte as it is. Throws a DatabaseError that
 * names the file and the mend.
 */
export function openForWriting(path: string, prepare: (db: Database.Database) => void): Database.Database {
  const db = open(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseForeign(db, path);
    // Before the log is begun, so that a file with a log beside it and without our mark is never one of ours.
    prepare(db);
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

/** Reads from an existing database of this program. Throws a DatabaseError where there is none, or it is in trouble. */
export function readFrom<T>(path: string, read: (db: Database.Database) => T): T {
  const db = openForReading(path);
  try {
    return read(db);
  } catch (error) {
    throw error instanceof UsageError ? error : toDatabaseError(error, path);
  } finally {
    db.close();
  }
}

/**
 * Writes to an existing database beside the worker that may have it open, and leaves its journal as the worker wants
 * it. Throws a DatabaseError.
 */
export function openBeside<T>(path: string, write: (db: Database.Database) => T): T {
  const db = openExisting(path, { timeout: READER_TIMEOUT_MS });
  try {
    db.pragma('synchronous = FULL');
    return write(db);
  } catch (error) {
    throw toDatabaseError(error, path);
  } finally {
    // Where a killed worker left its log, nobody else would see to it that read-only tools can open the file. Where a
    // worker is at work, it keeps its log, and is not waited for.
    db.pragma('busy_timeout = 0');
    leaveOneFile(db);
    db.close();
  }
}

/** Opens an existing database of this program for reading. Throws a DatabaseError. */
function openForReading(path: string): Database.Database {
  return openExisting(path, { readonly: true, timeout: READER_TIMEOUT_MS });
}

function openExisting(path: string, options: Database.Options): Database.Database {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    throw new DatabaseError(
      `There is no database at ${path}; set LEAGUE_SYNC_DATABASE, or let the worker make it first.`,
    );
  }
  const db = open(path, { ...options, fileMustExist: true });
  try {
    if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) throw foreign(path);
    return db;
  } catch (error) {
    db.close();
    throw toDatabaseError(error, path);
  }
}

/**
 * Ends the worker's connection so that one file is left that any tool can open, read-only mounts included. Where a
 * reader is connected it keeps its log beside the file, and finds it emptied.
 */
export async function closeForReaders(db: Database.Database): Promise<void> {
  for (let tries = 1; db.open && tries <= CLOSING_TRIES; tries += 1) {
    if (leaveOneFile(db) || emptyLog(db)) break;
    await wait(CLOSING_REST_MS);
  }
  db.close();
}

function leaveOneFile(db: Database.Database): boolean {
  try {
    return db.pragma('journal_mode = DELETE', { simple: true }) === 'delete';
  } catch {
    return false;
  }
}

/** Whether the log is empty now. Where it is not it stays whole, readable, and is applied at the next start. */
function emptyLog(db: Database.Database): boolean {
  try {
    return db.prepare<[], { busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } catch {
    return false;
  }
}

function open(path: string, options: Database.Options): Database.Database {
  if (isForeign(path)) throw foreign(path);
  try {
    return new Database(path, options);
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

/**
 * Whether the file is plainly a database of another application. Looked at before SQLite opens it, because opening alone
 * applies or removes a log that somebody left beside it; what the header does not tell is told by `refuseForeign`.
 */
export function isForeign(path: string): boolean {
  const header = readHeader(path);
  if (header === undefined || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return false;
  const id = header.readUInt32BE(APPLICATION_ID_OFFSET);
  const pages = header.readUInt32BE(PAGE_COUNT_OFFSET);
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return id !== APPLICATION_ID && (id !== 0 || pages > 1 || hasLog);
}

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const PAGE_COUNT_OFFSET = 28;
const APPLICATION_ID_OFFSET = 68;

function readHeader(path: string): Buffer | undefined {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < HEADER_BYTES) return undefined;
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const fd = openSync(path, 'r');
    readSync(fd, header);
    closeSync(fd);
    return header;
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

/** What is said of such a file. */
export function foreign(path: string): DatabaseError {
  return new DatabaseError(
    `The file ${path} is the database of another application and is left as it is; name another file in LEAGUE_SYNC_DATABASE.`,
  );
}
