import { DatabaseError } from '../errors.ts';
import { toDatabaseError } from './fault.ts';
import { inodeOf } from './identity.ts';

/**
 * The files of a database that is open, by what tells them from any others. Writes to a file that was deleted or
 * replaced succeed and are lost with it, so they are looked at before each.
 */
export type Possession = {
  /** Throws a DatabaseError where they are no longer the ones that were opened. */
  readonly require: () => void;
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
    require: () => {
      try {
        if (!isDatabaseOurs()) throw replaced(path);
        if (!isLogOurs()) throw without(`${path}-wal`);
        // Others would make another one, and then neither see what is written nor be seen.
        if (inodeOf(index) !== files.index) throw without(index);
      } catch (error) {
        throw toDatabaseError(error, path);
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
  return new DatabaseError(`The database ${path} was deleted or replaced while the worker ran.`, {
    fix: 'put that same file back (or mount its disk again), or stop the worker before you put another one there',
  });
}

function without(file: string): DatabaseError {
  return new DatabaseError(`The log ${file} was deleted or replaced while the worker ran.`, {
    fix: 'restart the worker, which saves what it holds of it',
  });
}
