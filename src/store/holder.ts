import { readFileSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { toDatabaseError } from './fault.ts';
import { readHolder } from './lock.ts';

/** Who wrote into the lock file of a database. */
export type LockHolder = {
  readonly label: string;
  /** Undefined where the system does not tell. */
  readonly isHeld: boolean | undefined;
};

/** What SQLite locks of a file while it writes; every version of it does so. */
const RESERVED_BYTE = 0x40000001;
const LOCKS = '/proc/locks';

/**
 * Who holds the lock of the database at `path`, as far as can be told without taking it, even for a moment: a worker that
 * starts just then would find it taken. Undefined where there is no lock file. Throws a DatabaseError.
 */
export function findLockHolder(path: string): LockHolder | undefined {
  const file = `${path}.lock`;
  try {
    const found = statSync(file, { throwIfNoEntry: false, bigint: true });
    return found && { label: readLabel(file), isHeld: isLocked(found.ino) };
  } catch (error) {
    throw toDatabaseError(error, file);
  }
}

function readLabel(file: string): string {
  try {
    const db = new Database(file, { readonly: true, timeout: 0 });
    try {
      return readHolder(db);
    } finally {
      db.close();
    }
  } catch {
    return 'somebody who cannot be told from it';
  }
}

/** Linux lists all locks, but those of processes in other containers. */
function isLocked(inode: bigint): boolean | undefined {
  try {
    return readFileSync(LOCKS, 'utf8').includes(`:${inode} ${RESERVED_BYTE} `);
  } catch {
    return undefined;
  }
}
