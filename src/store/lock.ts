import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf, DatabaseError, LockedError } from '../errors.ts';
import { toDatabaseError } from './database-error.ts';
import { requireOrdinary } from './database-file.ts';
import { inodeOf } from './identity.ts';

/** The right to be the one worker of a database, held until disposed or until the process ends in any way. */
export type Lock = Disposable & {
  /** Makes sure of it before something is written: where the file was deleted, it is taken anew. Throws a LockedError. */
  readonly renew: () => void;
};

/** Who holds a lock, as told to whoever finds it taken. */
export type Holder = { readonly pid: number; readonly host: string; readonly since: string };

/** A released lock file is removed, so a second worker may have opened the file that is going; it looks again. */
const MOST_LOOKS = 20;

/**
 * Takes the lock of the database at `path`. The lock is an SQLite write transaction held open on a small file beside
 * it: the kernel frees it when the process dies, and others can still read in it who holds it. Throws a LockedError
 * that names the holder.
 */
export function acquireLock(path: string, holder: Holder): Lock {
  const file = `${path}.lock`;
  let lock = takeLock(file, path, holder);
  return {
    renew: () => {
      if (lock.inode === inodeOf(file)) return;
      // Whoever has taken it meanwhile may be at work: what is held of the old file counts for nothing.
      const renewed = takeLock(file, path, holder);
      lock.release();
      lock = renewed;
    },
    [Symbol.dispose]: () => lock.release(),
  };
}

/** A lock file that is held. */
type Held = { readonly inode: string; readonly release: () => void };

function takeLock(file: string, path: string, holder: Holder): Held {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const lock = tryLock(file, path, holder);
    if (lock !== undefined) return lock;
  }
  throw new LockedError(`The lock of ${path} keeps changing hands; another worker seems to restart all the time.`);
}

function tryLock(file: string, path: string, self: Holder): Held | undefined {
  const db = openLockFile(file, path);
  const opened = inodeOf(file);
  try {
    hold(db, self);
    if (opened === undefined || opened !== inodeOf(file)) {
      db.close();
      return undefined;
    }
  } catch (error) {
    const holder = readHolder(db);
    db.close();
    const failure = toDatabaseError(error, file);
    if (!failure.busy) throw unusable(failure, file);
    throw new LockedError(
      `Another worker holds the database ${path}: ${holder}. Only one may write it; end that one first.`,
    );
  }
  return {
    inode: opened,
    release: () => {
      try {
        // Removed while still held: whoever opened it meanwhile sees that the file is another one now.
        if (opened === inodeOf(file)) rmSync(file, { force: true });
      } catch {
        // The file alone locks nothing, and what was done under the lock is done.
      } finally {
        db.close();
      }
    },
  };
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

/** Writes who holds the lock, then opens the transaction that is the lock. Throws SQLITE_BUSY where another has it. */
function hold(db: Database.Database, holder: Holder): void {
  db.exec('BEGIN IMMEDIATE');
  db.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT)');
  db.exec('DELETE FROM holder');
  db.prepare('INSERT INTO holder VALUES (?, ?, ?)').run(holder.pid, holder.host, holder.since);
  db.exec('COMMIT; BEGIN IMMEDIATE');
}

/** Who wrote their name into a lock file, for people. */
function readHolder(db: Database.Database): string {
  try {
    const holder = db.prepare<[], Holder>('SELECT pid, host, since FROM holder').get();
    if (holder !== undefined) return `process ${holder.pid} on ${holder.host}, since ${holder.since}`;
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
