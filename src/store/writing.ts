import type Database from 'better-sqlite3';
import { codeOf, DatabaseError, LockedError } from '../errors.ts';
import type { Patience } from './busy.ts';
import { toDatabaseError } from './database-error.ts';
import type { Possession } from './database-file.ts';
import type { Lock } from './lock.ts';
import { createPageCache } from './page-cache.ts';

/** The one way in which a worker writes to its database. */
export type Writing = {
  /** Within a transaction that writes so many leagues: makes room for their pages. */
  readonly widenCache: (leagues: number) => void;
  /**
   * Does the work in one immediate transaction: all of it is on disk afterwards, or none. The work is synchronous and
   * cannot be aborted; the signal ends only the wait for other programs. Rejects with a DatabaseError.
   */
  readonly write: Patience;
  /** Keeps the end of a run that could not be written: the next transaction that succeeds writes it first. */
  readonly writeWithNext: (end: () => void) => void;
  /**
   * Takes the lock again if its file was deleted, writes the end of a run that is waiting, and finds out whether a
   * locked database can be written again. Never throws.
   */
  readonly catchUp: () => void;
  /** Whether the end of a run has not been written. */
  readonly hasUnwritten: () => boolean;
  /** Why nothing can be written at present, as far as the files and the last write tell. Looks, and touches nothing. */
  readonly fault: () => DatabaseError | undefined;
};

export type WritingOptions = {
  readonly path: string;
  readonly lock: Pick<Lock, 'renew'>;
  readonly possession: Pick<Possession, 'fault'>;
  readonly patience: Patience;
};

export function createWriting(client: Database.Database, options: WritingOptions): Writing {
  const { lock, possession, patience } = options;
  const { writeNow, unwritten, widenCache } = createTransactions(client, options);
  /** Why the last write was given up, if another program was in the way, which it may be still. */
  let busy: DatabaseError | undefined;
  const noteEnd = (error?: unknown): void => {
    busy = error instanceof DatabaseError && error.busy ? error : undefined;
  };
  return {
    write: async (work, signal) => {
      try {
        const result = await patience(() => writeNow(work), signal);
        noteEnd();
        return result;
      } catch (error) {
        noteEnd(error);
        throw error;
      }
    },
    widenCache,
    writeWithNext: unwritten.keep,
    catchUp: () => {
      try {
        lock.renew();
      } catch {
        // Another worker has the lock: the next write fails with the same words.
        return;
      }
      if (!unwritten.isWaiting() && busy === undefined) return;
      try {
        writeNow(() => undefined);
        noteEnd();
      } catch (error) {
        noteEnd(error);
      }
    },
    hasUnwritten: unwritten.isLeft,
    fault: () => possession.fault() ?? busy,
  };
}

function createTransactions(client: Database.Database, { path, lock, possession }: WritingOptions) {
  const unwritten = createUnwritten(client);
  const cache = createPageCache(client);
  const inTransaction = client.transaction((work: () => unknown) => {
    unwritten.write();
    return work();
  });
  /** Throws a DatabaseError, or what the work threw. */
  const writeNow = <T>(work: () => T): T => {
    try {
      const fault = possession.fault();
      if (fault !== undefined) throw fault;
      lock.renew();
      const result = inTransaction.immediate(work) as T;
      unwritten.forget();
      return result;
    } catch (error) {
      throw isSqliteError(error) || error instanceof LockedError ? toDatabaseError(error, path) : error;
    } finally {
      cache.restore();
    }
  };
  return { writeNow, unwritten, widenCache: cache.widen };
}

/** The end of the last run, if it could not be written with the run. */
function createUnwritten(client: Database.Database) {
  let waiting: (() => void) | undefined;
  let isLost = false;
  const write = (): void => {
    if (waiting === undefined) return;
    try {
      client.transaction(waiting)();
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_CONSTRAINT')) throw error;
      // Another program's trigger refuses it, and must not keep later polls from being written.
      waiting = undefined;
      isLost = true;
      if (!client.inTransaction) throw error;
    }
  };
  return {
    write,
    keep: (end: () => void): void => {
      waiting = end;
    },
    forget: (): void => {
      waiting = undefined;
    },
    isWaiting: () => waiting !== undefined,
    isLeft: () => isLost || waiting !== undefined,
  };
}

/** Whether SQLite threw it. */
export function isSqliteError(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_');
}
