import { accessSync, closeSync, constants, fchmodSync, fchownSync, openSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { codeOf } from '../errors.ts';

const WAL_LIMIT_BYTES = 16 * 2 ** 20;
const CLOSE_ATTEMPTS = 40;
const CLOSE_RETRY_MS = 50;
/** After this many attempts an emptied WAL is good enough. */
const ONE_FILE_ATTEMPTS = 20;
const PERMISSIONS = 0o777;

/** Switches to WAL mode. A reader without write permission can open the database at any moment of the switch. */
export function enableWal(db: Database.Database): void {
  if (!isWal(db)) {
    // Throws if another program has the database locked, before any file is made.
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    createWalFiles(db.name);
    // The switch writes only the first page, so a kill cannot tear it. A journal on disk could become a hot journal,
    // which readers without write permission cannot roll back.
    db.pragma('journal_mode = MEMORY');
  }
  db.pragma('journal_mode = WAL');
  // The default for a file in WAL mode is NORMAL, which can lose a reported poll if the power fails.
  db.pragma('synchronous = FULL');
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  padEmptyWal(db);
}

/**
 * Makes empty -wal and -shm files with the permissions of the database. SQLite would make them only after the header is
 * set to WAL mode, and a reader without write permission could not open the database in between.
 */
function createWalFiles(path: string): void {
  // Fails early: the switch to WAL mode needs write permission, too.
  accessSync(path, constants.W_OK);
  const { mode, uid, gid } = statSync(path);
  for (const file of [`${path}-wal`, `${path}-shm`]) {
    let fd: number;
    try {
      // Never follows a link that another program has put there.
      fd = openSync(file, 'wx', mode & PERMISSIONS);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      throw error;
    }
    try {
      // Undoes the umask. Only root may change the owner.
      fchmodSync(fd, mode & PERMISSIONS);
      fchownSync(fd, uid, gid);
    } catch {
      // The files then belong to this user.
    } finally {
      closeSync(fd);
    }
  }
}

/**
 * Pads an empty WAL. SQLite writes the 32-byte header before the first frame; a kill in between leaves a header-only WAL,
 * on which a read-only connection retries until it gives up. Any bytes after the header avoid that.
 */
function padEmptyWal(db: Database.Database): void {
  const wal = `${db.name}-wal`;
  // Keeps other writers out.
  db.exec('BEGIN IMMEDIATE');
  try {
    if (statSync(wal).size === 0) writeFileSync(wal, Buffer.alloc(64), { flag: 'r+' });
  } catch {
    // If the disk is full, the next write reports it.
  } finally {
    db.exec('ROLLBACK');
  }
}

/**
 * Closes the worker's connection and leaves one file that any tool can open, on a read-only mount too. If a reader is
 * connected, an emptied WAL stays beside it. Returns whether it is one file.
 */
export async function closeForReaders(db: Database.Database): Promise<boolean> {
  let isOneFile = false;
  for (let attempt = 1; db.open && attempt <= CLOSE_ATTEMPTS; attempt += 1) {
    isOneFile = leaveWalMode(db);
    // A WAL with frames stays readable, and the next start applies it.
    if (isOneFile || (attempt >= ONE_FILE_ATTEMPTS && tryPragma(db, 'wal_checkpoint(TRUNCATE)') === 0)) break;
    await wait(CLOSE_RETRY_MS);
  }
  closeKeepingReadable(db);
  return isOneFile;
}

/** Returns whether the file is no longer in WAL mode. Without a journal on disk, as in `enableWal`. */
export function leaveWalMode(db: Database.Database): boolean {
  return tryPragma(db, 'journal_mode = MEMORY') === 'memory';
}

/**
 * Closes a connection. The last connection that may write would delete -wal and -shm but leave WAL mode on, and a reader
 * without write permission could not open that. A read-only connection that is closed last leaves them there.
 */
export function closeKeepingReadable(db: Database.Database): void {
  if (!db.open) return;
  db.pragma('busy_timeout = 0');
  let last: Database.Database | undefined;
  try {
    if (isWal(db)) last = new Database(db.name, { readonly: true, timeout: 0 });
    // SQLite counts a connection only after its first read.
    last?.pragma('application_id');
  } catch {
    // Not possible: -wal and -shm will be deleted.
  }
  db.close();
  last?.close();
}

const isWal = (db: Database.Database): boolean => tryPragma(db, 'journal_mode') === 'wal';

/** Undefined if the file cannot be read or is locked. */
function tryPragma(db: Database.Database, pragma: string): unknown {
  try {
    return db.pragma(pragma, { simple: true });
  } catch {
    return undefined;
  }
}
