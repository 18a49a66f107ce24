import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { DatabaseError } from '../errors.ts';
import { toDatabaseError } from './fault.ts';
import { APPLICATION_ID } from './identity.ts';

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

/** Throws a DatabaseError where the database, open already, is not ours and not new. */
export function refuseForeign(db: Database.Database, path: string): void {
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
