import { DatabaseError } from '../errors.ts';
import { withOwnSnapshot } from '../store/connection.ts';
import type { Monitor } from './monitor.ts';

/** Reads the worker's database on a connection of its own. Throws a DatabaseError if that cannot be done. */
export type Read = <T>(read: Parameters<typeof withOwnSnapshot<T>>[1]) => T;

/**
 * Reads for the pages. If the worker's files are gone, nothing is read: what is at their path now is another database.
 * The error is what the worker knows of its files, since it is not for the reader to make a database or name one.
 */
export function createReading(monitor: Monitor): Read {
  return (read) => {
    requireOwn(monitor.databaseFault());
    try {
      return withOwnSnapshot(monitor.path() ?? monitor.settings.database, read);
    } catch (error) {
      requireOwn(monitor.databaseFault());
      if (monitor.path() === undefined) throw new DatabaseError('The database is not open yet.');
      throw error;
    }
  };
}

function requireOwn(fault: DatabaseError | undefined): void {
  if (fault?.gone) throw fault;
}
