import { lchownSync, lstatSync, readFileSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import Database from 'better-sqlite3';
import { codeOf, DatabaseError, LockedError } from '../errors.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { explainErrors, toDatabaseError } from './database-error.ts';
import { assertRegularFile, inodeOf, locateFile } from './database-file.ts';

export type Lock = Disposable & {
  /** Takes the lock again if its file was deleted. Call this before each write. Throws like `acquireLock`. */
  readonly renew: () => void;
};

/** The commands that hold the lock. */
export type LockCommand = 'run' | 'demo' | 'sync' | 'profile';

export type LockOwner = {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  /** Undefined if the owner is of an older version. */
  readonly command?: LockCommand | undefined;
};

const MAX_ATTEMPTS = 20;
/** How long SQLite waits, blocking the event loop, for a process that looks whether the lock is held. */
const TIMEOUT_MS = 100;

// The table `holder` stays as it was in 0.1.0, which writes it without naming its columns. 0.1.0 does not know the table
// `process` and leaves the row of an earlier owner there, so that row counts only if it has the pid and the time of
// the owner.
const TABLES = `CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT);
  CREATE TABLE IF NOT EXISTS process (pid INTEGER, since TEXT, command TEXT)`;
const SELECT_OWNER = 'SELECT pid, host, since FROM holder';
const SELECT_COMMAND = 'SELECT command FROM process WHERE pid = @pid AND since = @since';

/**
 * Takes the lock of the database at `path`. The lock is an open exclusive SQLite transaction on a small file beside the
 * database: the kernel releases it when the process dies, and the file says who holds it. Throws a LockedError if
 * another worker has the lock, and a DatabaseError for other failures.
 */
export function acquireLock(path: string, owner: LockOwner): Lock {
  const file = `${path}.lock`;
  let lock = takeLock(file, path, owner);
  return {
    renew: () => {
      if (lock.inode === inodeOf(file)) return;
      // The lock file was deleted. If another worker has locked a new one, `takeLock` throws and the old lock is kept.
      const renewed = takeLock(file, path, owner);
      release(file, lock);
      lock = renewed;
    },
    [Symbol.dispose]: () => release(file, lock),
  };
}

type HeldLock = { readonly inode: string; readonly db: Database.Database };

/** Retries, since the previous worker may delete the lock file just after `tryLock` has opened it. */
function takeLock(file: string, path: string, owner: LockOwner): HeldLock {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const lock = tryLock(file, path, owner);
    if (lock !== undefined) return lock;
  }
  throw new LockedError(
    `The lock of ${path} cannot be taken: another program has ${file} open, or another worker restarts all the time.`,
  );
}

/** Undefined if the file was deleted, or read by another program, while it was being locked. */
function tryLock(file: string, path: string, owner: LockOwner): HeldLock | undefined {
  for (const name of [file, `${file}-journal`]) assertRegularFile(name);
  const isNew = inodeOf(file) === undefined;
  const db = explainErrors(file, () => new Database(file, { timeout: TIMEOUT_MS }));
  const inode = inodeOf(file);
  // It gets the owner of the database, so that what root leaves keeps no other user out. Only root may do that.
  tryOrUndefined(() => {
    const { uid, gid } = statSync(path);
    if (isNew) lchownSync(file, uid, gid);
  });
  try {
    // The owner's row is committed, so that the file has it. The second transaction stays open as the lock.
    db.exec('BEGIN EXCLUSIVE');
    db.exec(`${TABLES}; DELETE FROM holder; DELETE FROM process`);
    db.prepare('INSERT INTO holder (pid, host, since) VALUES (@pid, @host, @since)').run(owner);
    const insert = 'INSERT INTO process (pid, since, command) VALUES (@pid, @since, @command)';
    db.prepare(insert).run({ command: null, ...owner });
    db.exec('COMMIT; BEGIN EXCLUSIVE');
    if (inode !== undefined && inode === inodeOf(file)) return { inode, db };
  } catch (error) {
    db.close();
    const failure = toDatabaseError(error, file);
    if (!failure.busy) throw describeDamage(failure, file);
    // It was just released, or another program reads the file.
    if (holdsLock(file) === false) return undefined;
    throw new LockedError(
      `Another worker holds the database ${path}: ${describeOwner(file)}. Only one may write it: stop that worker first, or have it poll now with league-sync poll.`,
    );
  }
  db.close();
  return undefined;
}

/** Deletes the file before unlocking it, so that a worker that has already opened it notices the deletion. */
function release(file: string, { inode, db }: HeldLock): void {
  // A leftover file is harmless: the lock is the open transaction.
  tryOrUndefined(() => inode === inodeOf(file) && rmSync(file, { force: true }));
  db.close();
}

function describeOwner(file: string): string {
  const owner = readOwner(file);
  if (owner !== undefined) return `process ${owner.pid} on ${owner.host}, since ${owner.since}`;
  return 'it is just starting, or its file system does not support locks (then move the database to a local disk)';
}

function describeDamage(failure: DatabaseError, file: string): DatabaseError {
  const code = codeOf(failure.cause);
  if (!/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return failure;
  const fix = 'remove it if no worker is running on this database';
  return new DatabaseError(`The lock file ${file} is damaged (${code}).`, { cause: failure, fix });
}

/** `unknown`: the owner is on another host, whose locks may not be visible here, or the file cannot be read. */
export type LockStatus =
  | { readonly state: 'none' }
  | { readonly state: 'running' | 'unknown'; readonly holder: LockOwner | undefined };

/** Do not call this in the process that holds the lock: closing the file would release the lock. */
export function readLockStatus(path: string): LockStatus {
  const file = `${locateFile(path)}.lock`;
  if (inodeOf(file) === undefined) return { state: 'none' };
  const holder = readOwner(file);
  const isHeld = holdsLock(file);
  if (isHeld) return { state: 'running', holder };
  const isElsewhere = holder !== undefined && holder.host !== hostname();
  return isHeld === undefined || isElsewhere ? { state: 'unknown', holder } : { state: 'none' };
}

/** Undefined if the file cannot be read. */
function holdsLock(file: string): boolean | undefined {
  let db: Database.Database | undefined;
  try {
    assertRegularFile(file);
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 });
    db.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return codeOf(error).startsWith('SQLITE_BUSY') ? true : undefined;
  } finally {
    db?.close();
  }
}

/** Reads the file as bytes, since SQLite cannot read it while it is locked. Undefined if it does not say who owns it. */
function readOwner(file: string): LockOwner | undefined {
  let db: Database.Database | undefined;
  try {
    if (!lstatSync(file).isFile()) return undefined;
    db = new Database(readFileSync(file), { readonly: true });
    const owner = db.prepare<[], LockOwner>(SELECT_OWNER).get();
    return owner && { ...owner, ...readCommand(db, owner) };
  } catch {
    // Damaged, just being written, or not readable by this user.
    return undefined;
  } finally {
    db?.close();
  }
}

function readCommand(db: Database.Database, owner: LockOwner): Pick<LockOwner, 'command'> {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'process'").get() === undefined) return {};
  const command = db.prepare<[object], LockCommand | null>(SELECT_COMMAND).pluck().get(owner);
  return command ? { command } : {};
}
