import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  openSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { codeOf } from '../errors.ts';

/** A log that grew under a long reader shrinks back to this. */
const WAL_LIMIT_BYTES = 16 * 2 ** 20;
/** How often, and with what rest between, a clean end waits for readers to let go of the log. */
const CLOSING_TRIES = 40;
const CLOSING_REST_MS = 50;
/** So many of them wait until no reader is there at all; after that, an emptied log is good enough. */
const ONE_FILE_TRIES = 20;
const PERMISSIONS = 0o777;
/** More than the header of the log, so that it is never all that is there. */
const BLANK_LOG = Buffer.alloc(64);

/**
 * Begins the write-ahead log: readers neither wait for the worker nor make it wait, and never see half of a poll. A
 * reader who may not write can open the database at any moment of it.
 */
export function beginWal(db: Database.Database): void {
  if (!hasWal(db)) {
    // Nobody else may be in the way, or the companions would lie about until somebody makes use of them.
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    makeCompanions(db.name);
  }
  forgoJournal(db);
  db.pragma('journal_mode = WAL');
  // A later connection to a WAL file would get NORMAL, and a reported poll could be lost with the power.
  db.pragma('synchronous = FULL');
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  layOutLog(db);
}

/**
 * Gives an empty log a few bytes that mean nothing. SQLite writes the header of an empty one first, and what it says
 * after that; a kill in between leaves a log of the header alone, with which a reader who may not write tries again and
 * again until SQLite gives up. With anything behind the header it reads on.
 */
function layOutLog(db: Database.Database): void {
  const log = `${db.name}-wal`;
  // Nobody else may begin the log meanwhile.
  db.exec('BEGIN IMMEDIATE');
  try {
    if (statSync(log).size === 0) writeFileSync(log, BLANK_LOG, { flag: 'r+' });
  } catch {
    // The disk has no room, perhaps; whoever writes to the log next says so.
  } finally {
    db.exec('ROLLBACK');
  }
}

/**
 * Keeps the journal of the next change in memory, where the file has no log. That change is the mark in the first page
 * and one write, so that no end of the process can leave half of it; but a journal on the disk would be left, and who
 * may not write could not read before somebody has rolled it back.
 */
function forgoJournal(db: Database.Database): void {
  if (!hasWal(db)) db.pragma('journal_mode = MEMORY');
}

/**
 * Lays out the files of the log, empty, with the rights of the database. SQLite makes them only after it has marked the
 * file as one with a log, and until then a reader who may not make them could not open it. Beside a file without that
 * mark, empty ones mean nothing.
 */
function makeCompanions(path: string): void {
  // Who could not go on must not begin: the mark without the files would keep everybody out.
  accessSync(path, constants.W_OK);
  const database = statSync(path);
  for (const companion of [`${path}-wal`, `${path}-shm`]) {
    try {
      makeEmpty(companion, database);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

function makeEmpty(file: string, { mode, uid, gid }: Stats): void {
  const fd = openSync(file, 'wx', mode & PERMISSIONS);
  try {
    // As SQLite does it: not left to the umask, and given away where this is allowed.
    fchmodSync(fd, mode & PERMISSIONS);
    fchownSync(fd, uid, gid);
  } catch {
    // Then it is the user's who made it.
  } finally {
    closeSync(fd);
  }
}

/**
 * Ends the worker's connection so that one file is left that any tool can open, read-only mounts included. Where a
 * reader is connected it keeps its log beside the file, and finds it emptied. Says whether it is one file.
 */
export async function closeForReaders(db: Database.Database): Promise<boolean> {
  let isOneFile = false;
  for (let tries = 1; db.open && tries <= CLOSING_TRIES; tries += 1) {
    isOneFile = leaveOneFile(db);
    if (isOneFile || (tries >= ONE_FILE_TRIES && emptyWal(db))) break;
    await wait(CLOSING_REST_MS);
  }
  closeBehindReader(db);
  return isOneFile;
}

/** Removes the log of a connection that is still open to a file which is not at its path any more. */
export function removeLog(path: string): void {
  for (const companion of [`${path}-wal`, `${path}-shm`]) rmSync(companion, { force: true });
}

/**
 * Closes a connection. The last one that may write takes the log away with it, but not the mark that there is one, and
 * a reader who may not make a log could not open the file then. One that only reads, and goes last, leaves it there.
 */
export function closeBehindReader(db: Database.Database): void {
  // Nobody is waited for twice.
  if (db.open) db.pragma('busy_timeout = 0');
  const last = db.open && hasWal(db) ? openLast(db.name) : undefined;
  db.close();
  last?.close();
}

function hasWal(db: Database.Database): boolean {
  try {
    return db.pragma('journal_mode', { simple: true }) === 'wal';
  } catch {
    return false;
  }
}

function openLast(path: string): Database.Database | undefined {
  try {
    const last = new Database(path, { readonly: true, timeout: 0 });
    // It counts as a reader from its first look on.
    last.pragma('application_id');
    return last;
  } catch {
    return undefined;
  }
}

/** Whether the file has no log any more. */
export function leaveOneFile(db: Database.Database): boolean {
  try {
    // As in forgoJournal: the mark is all that changes.
    return db.pragma('journal_mode = MEMORY', { simple: true }) === 'memory';
  } catch {
    return false;
  }
}

/** Whether the log is empty now. Where it is not it stays whole, readable, and is applied at the next start. */
function emptyWal(db: Database.Database): boolean {
  try {
    return db.prepare<[], { busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } catch {
    return false;
  }
}
