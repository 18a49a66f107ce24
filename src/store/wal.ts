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

/** A WAL that grew under a long reader shrinks back to this. */
const WAL_LIMIT_BYTES = 16 * 2 ** 20;
/** How often, and with what rest between, a clean end waits for readers to let go of the WAL. */
const CLOSING_TRIES = 40;
const CLOSING_REST_MS = 50;
/** So many of them wait until no reader is there at all; after that, an empty WAL is good enough. */
const ONE_FILE_TRIES = 20;
const PERMISSIONS = 0o777;

/**
 * Begins the WAL: readers neither wait for the worker nor make it wait, and never see half of a poll. A reader who may
 * not write can open the database at any moment of it.
 */
export function enableWal(db: Database.Database): void {
  if (!hasWal(db)) {
    // Nobody else may be in the way, or the files would lie about until somebody makes use of them.
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    createWalFiles(db.name);
    // The journal of the next change is kept in memory. That change is the mark in the first page and one write, so
    // that no end of the process can leave half of it; but a journal on the disk would be left, and who may not write
    // could not read before somebody has rolled it back.
    db.pragma('journal_mode = MEMORY');
  }
  db.pragma('journal_mode = WAL');
  // A later connection to a WAL file would get NORMAL, and a reported poll could be lost with the power.
  db.pragma('synchronous = FULL');
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  padEmptyWal(db);
}

/**
 * Makes the files of the WAL, empty, with the rights of the database. SQLite makes them only after it has marked the
 * file as one with a WAL, and until then a reader who may not make them could not open it. Beside a file without that
 * mark, empty ones mean nothing.
 */
function createWalFiles(path: string): void {
  // Who could not go on must not begin: the mark without the files would keep everybody out.
  accessSync(path, constants.W_OK);
  const rights = statSync(path);
  for (const file of [`${path}-wal`, `${path}-shm`]) {
    try {
      createEmpty(file, rights);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

function createEmpty(file: string, { mode, uid, gid }: Stats): void {
  const fd = openSync(file, 'wx', mode & PERMISSIONS);
  try {
    // As SQLite does it: not left to the umask, and given away where this is allowed.
    fchmodSync(fd, mode & PERMISSIONS);
    fchownSync(fd, uid, gid);
  } catch {
    // Then it belongs to the user who made it.
  } finally {
    closeSync(fd);
  }
}

/**
 * Pads an empty WAL. SQLite writes the 32-byte header before the first frame; a kill in between leaves a WAL of the
 * header alone, on which a read-only connection retries until it gives up. Any bytes after the header avoid that.
 */
function padEmptyWal(db: Database.Database): void {
  const wal = `${db.name}-wal`;
  // Nobody else may begin the WAL meanwhile.
  db.exec('BEGIN IMMEDIATE');
  try {
    if (statSync(wal).size === 0) writeFileSync(wal, Buffer.alloc(64), { flag: 'r+' });
  } catch {
    // The disk has no room, perhaps; whoever writes to the WAL next says so.
  } finally {
    db.exec('ROLLBACK');
  }
}

/**
 * Ends the worker's connection so that one file is left that any tool can open, read-only mounts included. Where a
 * reader is connected it keeps its WAL beside the file, and finds it emptied. Says whether it is one file.
 */
export async function closeForReaders(db: Database.Database): Promise<boolean> {
  let isOneFile = false;
  for (let tries = 1; db.open && tries <= CLOSING_TRIES; tries += 1) {
    isOneFile = leaveWalMode(db);
    if (isOneFile || (tries >= ONE_FILE_TRIES && emptyWal(db))) break;
    await wait(CLOSING_REST_MS);
  }
  closeKeepingReadable(db);
  return isOneFile;
}

/** Whether the file has no WAL any more. As in `enableWal`, the mark is all that changes. */
export function leaveWalMode(db: Database.Database): boolean {
  return journalModeOf(db, 'journal_mode = MEMORY') === 'memory';
}

/** Whether the WAL is empty now. Where it is not it stays whole, readable, and is applied at the next start. */
function emptyWal(db: Database.Database): boolean {
  try {
    return db.prepare<[], { busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } catch {
    return false;
  }
}

/**
 * Closes a connection. The last one that may write takes the WAL away with it, but not the mark that there is one, and a
 * reader who may not make a WAL could not open the file then. One that only reads, and goes last, leaves it there.
 */
export function closeKeepingReadable(db: Database.Database): void {
  // Nobody is waited for twice.
  if (db.open) db.pragma('busy_timeout = 0');
  const last = db.open && hasWal(db) ? openLast(db.name) : undefined;
  db.close();
  last?.close();
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

function hasWal(db: Database.Database): boolean {
  return journalModeOf(db, 'journal_mode') === 'wal';
}

/** Undefined where the file cannot be read, or another program is in the way. */
function journalModeOf(db: Database.Database, pragma: string): unknown {
  try {
    return db.pragma(pragma, { simple: true });
  } catch {
    return undefined;
  }
}

/** Removes the WAL of a connection that is still open to a file which is not at its path any more. */
export function removeWalFiles(path: string): void {
  for (const file of [`${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
}
