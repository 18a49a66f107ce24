import type Database from 'better-sqlite3';
import { codeOf, DatabaseError, LockedError } from '../errors.ts';
import { createBacklog } from './backlog.ts';
import type { Patience } from './busy.ts';
import { toDatabaseError } from './database-error.ts';
import type { Lock } from './lock.ts';
import type { PageCache } from './page-cache.ts';
import type { Possession } from './possession.ts';

/** The one way in which a worker writes to its database. */
export type Writing = {
  /**
   * Does the work in one immediate transaction: all of it is on disk afterwards, or none. The work is synchronous and
   * cannot be aborted; the signal ends only the wait for other programs. Rejects with a DatabaseError.
   */
  readonly write: Patience;
  /** Keeps work that could not be written. It is the first thing in the next transaction, or done when the store ends. */
  readonly defer: (work: () => void) => void;
  /** Writes what was deferred, if that can be done at once; never throws. */
  readonly catchUp: () => void;
  readonly hasDeferred: () => boolean;
  /** Why nothing can be written at present, as far as the files and the last write tell. Looks, and touches nothing. */
  readonly fault: () => DatabaseError | undefined;
};

export type WritingOptions = {
  readonly path: string;
  readonly lock: Pick<Lock, 'renew'>;
  readonly possession: Pick<Possession, 'fault'>;
  readonly patience: Patience;
  readonly cache: Pick<PageCache, 'restore'>;
};

export function createWriting(
  client: Database.Database,
  { path, lock, possession, patience, cache }: WritingOptions,
): Writing {
  const backlog = createBacklog(client);
  /** What the last write was given up for, if that was another program, which may be in the way still. */
  let busy: DatabaseError | undefined;
  const inTransaction = client.transaction((work: () => unknown) => {
    backlog.apply();
    return work();
  });
  const writeNow = <T>(work: () => T): T => {
    try {
      const fault = possession.fault();
      if (fault !== undefined) throw fault;
      lock.renew();
      const result = inTransaction.immediate(work) as T;
      backlog.forget();
      busy = undefined;
      return result;
    } catch (error) {
      throw isSqliteError(error) || error instanceof LockedError ? toDatabaseError(error, path) : error;
    } finally {
      cache.restore();
    }
  };
  const giveUp = (error: unknown): void => {
    busy = error instanceof DatabaseError && error.busy ? error : undefined;
  };
  return {
    write: async (work, signal) => {
      try {
        return await patience(() => writeNow(work), signal);
      } catch (error) {
        giveUp(error);
        throw error;
      }
    },
    defer: backlog.add,
    catchUp: () => {
      if (backlog.isEmpty() && busy === undefined) return;
      try {
        writeNow(() => undefined);
      } catch (error) {
        giveUp(error);
      }
    },
    hasDeferred: () => !backlog.isEmpty(),
    fault: () => possession.fault() ?? busy,
  };
}

/** Whether SQLite threw it. */
export function isSqliteError(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_');
}
