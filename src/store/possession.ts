import { DatabaseError } from '../errors.ts';
import { toDatabaseError } from './database-error.ts';
import { inodeOf } from './identity.ts';

/**
 * The files of a database that is open, by what tells them from any others. Writes to a file that was deleted or
 * replaced succeed and are lost with it, so they are looked at before each.
 */
export type Possession = {
  /** Why they are no longer the ones that were opened, or cannot be looked at; undefined if all is well. */
  readonly fault: () => DatabaseError | undefined;
  readonly isDatabaseOurs: () => boolean;
  /** Whether the log under the database's name is that of the file that was opened. */
  readonly isLogOurs: () => boolean;
};

/** Remembers the files as they are now: with a log, opened, and written to by nobody else. */
export function createPossession(path: string): Possession {
  const index = `${path}-shm`;
  const files = { database: inodeOf(path), log: inodeOf(`${path}-wal`), index: inodeOf(index) };
  const isDatabaseOurs = (): boolean => inodeOf(path) === files.database;
  const isLogOurs = (): boolean => inodeOf(`${path}-wal`) === files.log;
  return {
    fault: () => {
      try {
        if (!isDatabaseOurs()) return replaced(path);
        if (!isLogOurs()) return without(`${path}-wal`);
        // Others would make another one, and then neither see what is written nor be seen.
        return inodeOf(index) === files.index ? undefined : without(index);
      } catch (error) {
        return toDatabaseError(error, path);
      }
    },
    isDatabaseOurs: () => within(isDatabaseOurs),
    isLogOurs: () => within(isLogOurs),
  };
}

/** Where nobody can tell, it is better taken for somebody else's. */
function within(look: () => boolean): boolean {
  try {
    return look();
  } catch {
    return false;
  }
}

function replaced(path: string): DatabaseError {
  return new DatabaseError(
    `The database ${path} was deleted or replaced while the worker ran; nothing new is written.`,
    {
      fix: 'put that same file back (or mount its disk again), or restart the worker, which uses what is there then',
      gone: true,
      condition: 'is gone',
    },
  );
}

function without(file: string): DatabaseError {
  return new DatabaseError(`The WAL ${file} was deleted or replaced while the worker ran; nothing new is written.`, {
    fix: 'restart the worker, which saves what it holds of it',
    gone: true,
    condition: 'has lost its WAL',
  });
}
