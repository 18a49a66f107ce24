import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { DatabaseError } from '../errors.ts';
import { toDatabaseError } from './database-error.ts';
import { APPLICATION_ID, inodeOf } from './identity.ts';

/** Databases that this process has made or opened to write to. They are ours for certain. */
const own = new Set<string>();

/** Remembers that the database at `path` is ours, so that it is never looked at again. */
export function rememberOwn(path: string): void {
  const inode = inodeOf(path);
  if (inode !== undefined) own.add(inode);
}

/**
 * Whether the file is plainly a database of another application. Looked at before SQLite opens it, because that alone
 * may apply, remove or make a log beside it; what the header does not tell is told by `refuseForeign`.
 */
export function isForeign(path: string): boolean {
  const header = readHeader(path);
  if (header === undefined || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return false;
  const id = header.readUInt32BE(APPLICATION_ID_OFFSET);
  const pages = header.readUInt32BE(PAGE_COUNT_OFFSET);
  const hasWal = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return id !== APPLICATION_ID && (id !== 0 || pages > 1 || hasWal);
}

/** The application id of an SQLite database that this process does not have open; undefined for any other file. */
export function readApplicationId(path: string): number | undefined {
  const header = readHeader(path);
  const isDatabase = header?.toString('latin1', 0, MAGIC.length) === MAGIC;
  return isDatabase ? header.readUInt32BE(APPLICATION_ID_OFFSET) : undefined;
}

/** Whether the file is an SQLite database with a write-ahead log, and none that this process has open. */
export function hasWalMark(path: string): boolean {
  const header = readHeader(path);
  return header?.toString('latin1', 0, MAGIC.length) === MAGIC && header[READ_VERSION_OFFSET] === WITH_WAL;
}

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
/** 1 with a rollback journal, 2 with a write-ahead log. */
const READ_VERSION_OFFSET = 19;
const WITH_WAL = 2;
const PAGE_COUNT_OFFSET = 28;
const APPLICATION_ID_OFFSET = 68;

/**
 * NEVER reads a database that this process has open: closing any descriptor of a file drops all the locks that the
 * process has on it, SQLite's too, without SQLite ever knowing. The next program that reads would take the log for one
 * that nobody uses and delete it, and what the worker writes from then on would be lost.
 */
function readHeader(path: string): Buffer | undefined {
  try {
    if (own.has(inodeOf(path) ?? '')) return undefined;
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < HEADER_BYTES) return undefined;
    const header = Buffer.alloc(HEADER_BYTES);
    const fd = openSync(path, 'r');
    try {
      readSync(fd, header);
    } finally {
      closeSync(fd);
    }
    return header;
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

/** Throws a DatabaseError where the database, open already, is not ours and not new. */
export function refuseForeign(db: Database.Database, path: string): void {
  const id = db.pragma('application_id', { simple: true });
  if (id === APPLICATION_ID) return;
  const tables = db.prepare<[], { n: number }>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
  if (id !== 0 || tables > 0) throw foreign(path);
}

/** What is said of such a file. */
export function foreign(path: string): DatabaseError {
  return new DatabaseError(`The file ${path} is the database of another application and is left as it is.`, {
    fix: 'name another file in LEAGUE_SYNC_DATABASE',
  });
}
