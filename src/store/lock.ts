import { lstatSync, readFileSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf, DatabaseError, LockedError } from '../errors.ts';
import { toDatabaseError } from './database-error.ts';
import { inodeOf, locateFile, requireOrdinary } from './database-file.ts';

/** The right to be the one worker of a database, held until disposed or until the process ends in any way. */
export type Lock = Disposable & {
  /** Makes sure of it before something is written: where the file was deleted, it is taken anew. Throws a LockedError. */
  readonly renew: () => void;
};

/** Who holds a lock, as told to whoever finds it taken. */
export type LockOwner = { readonly pid: number; readonly host: string; readonly since: string };

/** A released lock file is removed, so a second worker may have opened the file that is going; it looks again. */
const MOST_LOOKS = 20;
const SELECT_OWNER = 'SELECT pid, host, since FROM holder';

/**
 * Takes the lock of the database at `path`. The lock is an SQLite write transaction held open on a small file beside
 * it: the kernel frees it when the process dies, and others can still read in it who holds it. Throws a LockedError
 * that names the owner.
 */
export function acquireLock(path: string, owner: LockOwner): Lock {
  const file = `${path}.lock`;
  let lock = takeLock(file, path, owner);
  return {
    renew: () => {
      if (lock.inode === inodeOf(file)) return;
      // The lock file was deleted, so another worker may hold a new one. The old one is kept until the new one is taken.
      const renewed = takeLock(file, path, owner);
      lock.release();
      lock = renewed;
    },
    [Symbol.dispose]: () => lock.release(),
  };
}

/** A lock file that is held. */
type Held = { readonly inode: string; readonly release: () => void };

function takeLock(file: string, path: string, owner: LockOwner): Held {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const lock = tryLock(file, path, owner);
    if (lock !== undefined) return lock;
  }
  throw new LockedError(`The lock of ${path} keeps changing hands; another worker seems to restart all the time.`);
}

/** Undefined if the file was removed while it was locked. */
function tryLock(file: string, path: string, owner: LockOwner): Held | undefined {
  const db = openLockFile(file, path);
  const inode = inodeOf(file);
  try {
    // The owner is committed for others to read; the transaction that follows is the lock. SQLITE_BUSY if it is taken.
    db.exec('BEGIN IMMEDIATE');
    db.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT); DELETE FROM holder');
    db.prepare('INSERT INTO holder VALUES (@pid, @host, @since)').run(owner);
    db.exec('COMMIT; BEGIN IMMEDIATE');
    if (inode !== undefined && inode === inodeOf(file)) return { inode, release: () => release(db, file, inode) };
  } catch (error) {
    const other = describeOwner(db);
    db.close();
    const failure = toDatabaseError(error, file);
    if (!failure.busy) throw unusable(failure, file);
    throw new LockedError(
      `Another worker holds the database ${path}: ${other}. Only one may write it; end that one first.`,
    );
  }
  db.close();
  return undefined;
}

function openLockFile(file: string, path: string): Database.Database {
  try {
    for (const companion of ['', '-journal']) requireOrdinary(file + companion);
    return new Database(file, { timeout: 0 });
  } catch (error) {
    const failure = toDatabaseError(error, file);
    if (!failure.busy) throw failure;
    throw new LockedError(`Another worker is just taking the database ${path}.`);
  }
}

function release(db: Database.Database, file: string, inode: string): void {
  try {
    // Removed while still held: whoever opened it meanwhile sees that the file is another one now.
    if (inode === inodeOf(file)) rmSync(file, { force: true });
  } catch {
    // The file alone locks nothing, and what was done under the lock is done.
  } finally {
    db.close();
  }
}

/** Who wrote their name into a lock file, for people. */
function describeOwner(db: Database.Database): string {
  try {
    const owner = db.prepare<[], LockOwner>(SELECT_OWNER).get();
    if (owner !== undefined) return `process ${owner.pid} on ${owner.host}, since ${owner.since}`;
  } catch {
    // It has not got as far as writing its name.
  }
  return 'it is just starting, or the file system there knows no locks (then move the database to a local disk)';
}

/** A lock file holds nothing worth keeping, so the fix is another than for a database. */
function unusable(failure: DatabaseError, file: string): DatabaseError {
  const code = codeOf(failure.cause);
  if (!/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return failure;
  const fix = 'remove it if no worker is running on this database';
  return new DatabaseError(`The lock file ${file} is damaged (${code}).`, { cause: failure, fix });
}

/**
 * Whether a worker holds the database: `none` does, one is `running`, or that is `unknown`, since the one that is named
 * is on another host, or nobody can say who it is.
 */
export type LockStatus =
  | { readonly state: 'none' }
  | { readonly state: 'running'; readonly holder: LockOwner }
  | { readonly state: 'unknown'; readonly holder: LockOwner | undefined };

/** What tells whether a process that is named is there. */
export type LocalHost = { readonly host: string; readonly isAlive: (pid: number) => boolean };

/**
 * Says who holds the database at `path`, and disturbs nobody: the lock file is read as a file, since SQLite would lock it
 * for a moment, in which no worker could start. Never for the process that holds it: closing the file ends its lock.
 */
export function readLockStatus(path: string, { host, isAlive }: LocalHost): LockStatus {
  const file = `${locateFile(path)}.lock`;
  const content = readLockFile(file);
  if (content === undefined) return { state: 'none' };
  const holder = readOwner(content);
  if (holder === undefined || holder.host !== host) return { state: 'unknown', holder };
  const isHeld = findLock(file, holder.pid) ?? isAlive(holder.pid);
  return isHeld ? { state: 'running', holder } : { state: 'none' };
}

/** Undefined where there is none; empty where it cannot be read. */
function readLockFile(file: string): Buffer | undefined {
  try {
    return lstatSync(file).isFile() ? readFileSync(file) : Buffer.alloc(0);
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : Buffer.alloc(0);
  }
}

function readOwner(content: Buffer): LockOwner | undefined {
  try {
    const db = new Database(content, { readonly: true });
    try {
      return db.prepare<[], LockOwner>(SELECT_OWNER).get();
    } finally {
      db.close();
    }
  } catch {
    // A worker is just writing its name, or it is no lock file at all.
    return undefined;
  }
}

/** Where SQLite keeps the lock of a transaction that may write. */
const RESERVED_BYTE = '1073741825';

/**
 * Whether the kernel knows of the lock, by its process or its file: the process of that number may be another one by
 * now, as it often is in a container. Undefined where the kernel does not tell.
 */
function findLock(file: string, pid: number): boolean | undefined {
  try {
    const { ino } = statSync(file, { bigint: true });
    return readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map((line) => /WRITE +(\d+) [0-9a-f]+:[0-9a-f]+:(\d+) (\d+) /.exec(line))
      .some((lock) => lock?.[3] === RESERVED_BYTE && (lock[1] === String(pid) || lock[2] === String(ino)));
  } catch {
    return undefined;
  }
}
