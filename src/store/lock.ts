import { lstatSync, readFileSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf, DatabaseError, LockedError } from '../errors.ts';
import { explainErrors, toDatabaseError } from './database-error.ts';
import { assertRegularFile, inodeOf, locateFile } from './database-file.ts';
import { findPidNamespace, type PidNamespace } from './pid-namespace.ts';

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
  readonly namespace?: PidNamespace | undefined;
};

const MAX_ATTEMPTS = 20;

// The table `holder` stays as it was in 0.1.0, which writes it without naming its columns. 0.1.0 does not know the table
// `process` and leaves the row of an earlier owner there, so that row counts only if it has the pid and the time of
// the owner.
const TABLES = `CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT);
  CREATE TABLE IF NOT EXISTS process
    (pid INTEGER, since TEXT, command TEXT, boot_id TEXT, pid_namespace TEXT)`;
const INSERT_PROCESS = `INSERT INTO process (pid, since, command, boot_id, pid_namespace)
  VALUES (@pid, @since, @command, @bootId, @pidNamespace)`;
const SELECT_OWNER = 'SELECT pid, host, since FROM holder';
const SELECT_PROCESS = `SELECT command, boot_id AS bootId, pid_namespace AS pidNamespace
  FROM process WHERE pid = @pid AND since = @since`;

/**
 * Takes the lock of the database at `path`. The lock is an open SQLite write transaction on a small file beside the
 * database: the kernel releases it when the process dies, and other processes can read who holds it. Throws a
 * LockedError if another worker has the lock, and a DatabaseError for other failures.
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

const NO_NAMESPACE = { bootId: null, pidNamespace: null };

type HeldLock = { readonly inode: string; readonly db: Database.Database };

/** Retries, since the previous worker may delete the lock file just after `tryLock` has opened it. */
function takeLock(file: string, path: string, owner: LockOwner): HeldLock {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const lock = tryLock(file, path, owner);
    if (lock !== undefined) return lock;
  }
  throw new LockedError(`The lock of ${path} keeps changing owners; another worker seems to restart all the time.`);
}

/** Undefined if the file was deleted while it was being locked. */
function tryLock(file: string, path: string, owner: LockOwner): HeldLock | undefined {
  for (const name of [file, `${file}-journal`]) assertRegularFile(name);
  const db = explainErrors(file, () => new Database(file, { timeout: 0 }));
  const inode = inodeOf(file);
  try {
    // The owner's row is committed, so that other processes can read it. The second transaction stays open as the lock.
    db.exec('BEGIN IMMEDIATE');
    db.exec(`${TABLES}; DELETE FROM holder; DELETE FROM process`);
    db.prepare('INSERT INTO holder (pid, host, since) VALUES (@pid, @host, @since)').run(owner);
    const { pid, since, command = null, namespace = NO_NAMESPACE } = owner;
    db.prepare(INSERT_PROCESS).run({ pid, since, command, ...namespace });
    db.exec('COMMIT; BEGIN IMMEDIATE');
    if (inode !== undefined && inode === inodeOf(file)) return { inode, db };
  } catch (error) {
    const other = describeOwner(db);
    db.close();
    const failure = toDatabaseError(error, file);
    if (!failure.busy) throw describeDamage(failure, file);
    throw new LockedError(
      `Another worker holds the database ${path}: ${other}. Only one may write it: stop that worker first, or have it poll now with league-sync poll.`,
    );
  }
  db.close();
  return undefined;
}

/** Deletes the file before unlocking it, so that a worker that has already opened it notices the deletion. */
function release(file: string, { inode, db }: HeldLock): void {
  try {
    if (inode === inodeOf(file)) rmSync(file, { force: true });
  } catch {
    // A leftover file is harmless: the lock is the open transaction.
  } finally {
    db.close();
  }
}

function describeOwner(db: Database.Database): string {
  try {
    const owner = db.prepare<[], LockOwner>(SELECT_OWNER).get();
    if (owner !== undefined) return `process ${owner.pid} on ${owner.host}, since ${owner.since}`;
  } catch {
    // The other worker may not have committed the owner yet.
  }
  return 'it is just starting, or its file system does not support locks (then move the database to a local disk)';
}

function describeDamage(failure: DatabaseError, file: string): DatabaseError {
  const code = codeOf(failure.cause);
  if (!/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return failure;
  const fix = 'remove it if no worker is running on this database';
  return new DatabaseError(`The lock file ${file} is damaged (${code}).`, { cause: failure, fix });
}

/** `unknown`: the owner is on another host or in another PID namespace, or the file cannot be read. */
export type LockStatus =
  | { readonly state: 'none' }
  | { readonly state: 'running'; readonly holder: LockOwner }
  | { readonly state: 'unknown'; readonly holder: LockOwner | undefined };

export type LocalHost = { readonly host: string; readonly isAlive: (pid: number) => boolean };

/**
 * Reads the lock file as bytes, since SQLite would lock it for a moment, and a worker that starts at that moment would
 * fail. Do not call this in the process that holds the lock: closing the file would release the lock.
 */
export function readLockStatus(path: string, { host, isAlive }: LocalHost): LockStatus {
  const file = `${locateFile(path)}.lock`;
  let holder: LockOwner | undefined;
  try {
    holder = readOwner(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { state: 'none' };
    // The file is unreadable, damaged, or just being written.
  }
  if (holder === undefined || holder.host !== host) return { state: 'unknown', holder };
  const locks = readKernelLocks(file);
  if (locks?.some(({ isOfFile }) => isOfFile)) return { state: 'running', holder };
  if (isElsewhere(holder)) return { state: 'unknown', holder };
  const { pid } = holder;
  const isHeld = locks?.some((lock) => lock.pid === pid) ?? isAlive(pid);
  return isHeld ? { state: 'running', holder } : { state: 'none' };
}

/** Whether the pid of the owner belongs to another PID namespace of this machine, whose locks are not visible here. */
function isElsewhere({ namespace }: LockOwner): boolean {
  const own = findPidNamespace();
  return own?.bootId === namespace?.bootId && own?.pidNamespace !== namespace?.pidNamespace;
}

function readOwner(file: string): LockOwner | undefined {
  if (!lstatSync(file).isFile()) return undefined;
  const db = new Database(readFileSync(file), { readonly: true });
  try {
    const owner = db.prepare<[], LockOwner>(SELECT_OWNER).get();
    return owner && { ...owner, ...readProcess(db, owner) };
  } finally {
    db.close();
  }
}

type StoredProcess = { readonly command: LockCommand | null } & {
  readonly [Name in keyof PidNamespace]: string | null;
};

function readProcess(db: Database.Database, { pid, since }: LockOwner): Pick<LockOwner, 'command' | 'namespace'> {
  const hasProcess = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'process'").get() !== undefined;
  const found = hasProcess ? db.prepare<[object], StoredProcess>(SELECT_PROCESS).get({ pid, since }) : undefined;
  if (found === undefined) return {};
  const { command, bootId, pidNamespace } = found;
  const isKnown = bootId !== null && pidNamespace !== null;
  return { command: command ?? undefined, namespace: isKnown ? { bootId, pidNamespace } : undefined };
}

/** The offset of the byte that SQLite locks during a write transaction. */
const RESERVED_BYTE = '1073741825';

type KernelLock = { readonly pid: number; readonly isOfFile: boolean };

/** SQLite's write locks that /proc/locks lists, of all files; undefined if reading fails. */
function readKernelLocks(file: string): readonly KernelLock[] | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map((line) => /WRITE +(\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) (\d+) /.exec(line)?.slice(1) ?? [])
      .filter(([, , , , start]) => start === RESERVED_BYTE)
      .map(([pid, major, minor, inode]) => ({
        pid: Number(pid),
        isOfFile: inode === String(ino) && deviceOf(`0x${major}`, `0x${minor}`) === dev,
      }));
  } catch {
    return undefined;
  }
}

/** The device number as the kernel packs it for `stat`. */
function deviceOf(major: string, minor: string): bigint {
  const [high, low] = [BigInt(major), BigInt(minor)];
  return (low & 0xffn) | ((high & 0xfffn) << 8n) | ((low & ~0xffn) << 12n) | ((high & ~0xfffn) << 32n);
}
