import { accessSync, closeSync, constants, fchmodSync, fchownSync, openSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { codeOf } from '../errors.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { accessError } from './database-error.ts';

const WAL_LIMIT_BYTES = 16 * 2 ** 20;
const CLOSE_ATTEMPTS = 40;
const CLOSE_RETRY_MS = 50;
/** After this many failed attempts to leave a single file, emptying the WAL is enough. */
const ONE_FILE_ATTEMPTS = 20;
const PERMISSIONS = 0o777;

/** Switches to WAL mode. A reader without write permission can open the database at any moment of the switch. */
export function enableWal(db: Database.Database): void {
  if (!isWal(db)) {
    // Throws, before any file is created, if another program has the database locked.
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    createWalFiles(db.name);
    // A kill could turn a journal on disk into a hot journal, which readers without write permission cannot roll back.
    // A journal in memory is safe here, since the switch writes a single page and a kill cannot split that write.
    db.pragma('journal_mode = MEMORY');
  }
  db.pragma('journal_mode = WAL');
  // better-sqlite3's default in WAL mode is NORMAL: a power failure could then lose a poll that was reported as done.
  db.pragma('synchronous = FULL');
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  padEmptyWal(db);
}

/** Makes -wal and -shm first: in WAL mode without them, a reader who may not write cannot open the database. */
function createWalFiles(path: string): void {
  // Throws, before any file is created, if this user lacks write permission, which the switch to WAL mode needs.
  accessSync(path, constants.W_OK);
  const { mode, uid, gid } = statSync(path);
  for (const file of [`${path}-wal`, `${path}-shm`]) {
    let fd: number;
    try {
      // With the flag `x`, `openSync` never follows a link that another program has put there.
      fd = openSync(file, 'wx', mode & PERMISSIONS);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      throw error;
    }
    // Adds the permissions that the umask removed. Only root may change the owner; else the files belong to this user.
    tryOrUndefined(() => {
      fchmodSync(fd, mode & PERMISSIONS);
      fchownSync(fd, uid, gid);
    });
    closeSync(fd);
  }
}

/** Pads an empty WAL: after a kill before its first frame, a read-only connection would retry on its header. */
function padEmptyWal(db: Database.Database): void {
  const wal = `${db.name}-wal`;
  // Keeps other writers out, since the padding would overwrite frames that were written just before it.
  db.exec('BEGIN IMMEDIATE');
  // If the disk is full, the next write reports it.
  tryOrUndefined(() => statSync(wal).size === 0 && writeFileSync(wal, Buffer.alloc(64), { flag: 'r+' }));
  db.exec('ROLLBACK');
}

/** Leaves one file that any tool can open, or beside a reader an emptied WAL. Resolves to whether it is one. */
export async function closeForReaders(db: Database.Database): Promise<boolean> {
  let isOneFile = false;
  for (let attempt = 1; db.open && attempt <= CLOSE_ATTEMPTS; attempt += 1) {
    isOneFile = leaveWalMode(db);
    // If all attempts fail, a WAL with frames stays. Readers can use it, and the worker applies it at its next start.
    if (isOneFile || (attempt >= ONE_FILE_ATTEMPTS && tryPragma(db, 'wal_checkpoint(TRUNCATE)') === 0)) break;
    await wait(CLOSE_RETRY_MS);
  }
  closeKeepingReadable(db);
  return isOneFile;
}

/** Tries to leave WAL mode; returns whether that succeeded. Uses a journal in memory for the reason in `enableWal`. */
export function leaveWalMode(db: Database.Database): boolean {
  // A WAL that this user may not delete would stay, and be taken for that of another file (see `assertHeaderOurs`).
  const mayDelete = accessError(dirname(db.name), constants.W_OK) === undefined;
  return mayDelete && tryPragma(db, 'journal_mode = MEMORY') === 'memory';
}

/**
 * Closes a connection. If a writable connection closed last, SQLite would delete -wal and -shm but leave WAL mode on,
 * and a reader without write permission could not open the database. So a read-only connection closes last.
 */
export function closeKeepingReadable(db: Database.Database): void {
  if (!db.open) return;
  db.pragma('busy_timeout = 0');
  // Without the read-only connection, closing `db` may delete -wal and -shm.
  const last = tryOrUndefined(() => (isWal(db) ? new Database(db.name, { readonly: true, timeout: 0 }) : undefined));
  // SQLite counts this connection as open only after the connection's first read.
  tryOrUndefined(() => last?.pragma('application_id'));
  db.close();
  last?.close();
}

const isWal = (db: Database.Database): boolean => tryPragma(db, 'journal_mode') === 'wal';

/** The value of the PRAGMA; undefined if the file cannot be read or is locked. */
function tryPragma(db: Database.Database, pragma: string): unknown {
  return tryOrUndefined(() => db.pragma(pragma, { simple: true }));
}
