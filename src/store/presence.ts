import { lstatSync, readFileSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf } from '../errors.ts';
import { locateFile } from './database-file.ts';
import type { Holder } from './lock.ts';

/**
 * Whether a worker holds the database: `none` does, one is `running`, or that is `unknown`, since the one that is named
 * is on another host, or nobody can say who it is.
 */
export type Presence =
  | { readonly state: 'none' }
  | { readonly state: 'running'; readonly holder: Holder }
  | { readonly state: 'unknown'; readonly holder: Holder | undefined };

/** What tells whether a process that is named is there. */
export type Neighbourhood = { readonly host: string; readonly isAlive: (pid: number) => boolean };

/**
 * Says who holds the database at `path`, and disturbs nobody: the lock file is read as a file, since SQLite would lock it
 * for a moment, in which no worker could start. Never for the process that holds it: closing the file ends its lock.
 */
export function readPresence(path: string, { host, isAlive }: Neighbourhood): Presence {
  const file = `${locateFile(path)}.lock`;
  const content = readLockFile(file);
  if (content === undefined) return { state: 'none' };
  const holder = readHolder(content);
  if (holder === undefined || holder.host !== host) return { state: 'unknown', holder };
  const isHeld = findLock(file, holder.pid) ?? isAlive(holder.pid);
  return isHeld ? { state: 'running', holder } : { state: 'none' };
}

/** Undefined where there is none; empty where it cannot be read. */
function readLockFile(file: string): Buffer | undefined {
  try {
    if (lstatSync(file).isFile()) return readFileSync(file);
    return Buffer.alloc(0);
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : Buffer.alloc(0);
  }
}

function readHolder(content: Buffer): Holder | undefined {
  if (content.length === 0) return undefined;
  try {
    const db = new Database(content, { readonly: true });
    try {
      return db.prepare<[], Holder>('SELECT pid, host, since FROM holder').get();
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
 * Whether the kernel knows of the lock, by its process or its file: a process of that number may be another one since.
 * Undefined where the kernel does not tell.
 */
function findLock(file: string, pid: number): boolean | undefined {
  try {
    const { ino } = statSync(file, { bigint: true });
    const locks = readFileSync('/proc/locks', 'utf8').split('\n');
    return locks
      .map((line) => /WRITE +(\d+) [0-9a-f]+:[0-9a-f]+:(\d+) (\d+) /.exec(line))
      .some((lock) => lock?.[3] === RESERVED_BYTE && (lock[1] === String(pid) || lock[2] === String(ino)));
  } catch {
    return undefined;
  }
}
