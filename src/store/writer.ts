import type Database from 'better-sqlite3';
import { codeOf, DatabaseError } from '../errors.ts';
import { yieldToEventLoop } from '../race-abort.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import type { RetryWhileBusy } from './busy.ts';
import { explainErrors } from './database-error.ts';
import type { FileGuard } from './detect-file-loss.ts';
import type { Lock } from './worker-lock.ts';

/** Large: pages that do not fit are written before COMMIT. With 16 MB, 100,000 new leagues took 3.2 s, not 2.5 s. */
const CACHE_KIB = 512 * 1024;
/** Of each kind. More can only be pending if another program's trigger refuses them all, or a disk is full for days. */
const MAX_PENDING = 1_000;

type WriterOptions = {
  readonly lock: Pick<Lock, 'renew'>;
  readonly guard: FileGuard;
  readonly retryWhileBusy: RetryWhileBusy;
};

function isRefused(error: unknown): boolean {
  return error instanceof DatabaseError && codeOf(error.cause).startsWith('SQLITE_CONSTRAINT');
}

/** Writes that failed, the oldest first; `what` names one of them. */
function createPending(what: string, writeNow: (work: () => unknown) => void) {
  const changes = new Set<() => void>();
  let isOneLost = false;
  return {
    list: () => [...changes],
    add: (change: () => void): void => {
      const [oldest] = changes;
      if (oldest !== undefined && changes.size >= MAX_PENDING) isOneLost = changes.delete(oldest);
      changes.add(change);
    },
    /** All or none of `some`. Throws like `writeNow`. */
    write: (some: readonly (() => void)[]): void => {
      if (some.length > 0) writeNow(() => some.map((change) => change()));
      for (const change of some) changes.delete(change);
    },
    /** Gives those of `some` up that are not written. */
    lose: (some: readonly (() => void)[]): void => {
      for (const change of some) isOneLost = changes.delete(change) || isOneLost;
    },
    /** What is not in the database. */
    unsaved: (): readonly string[] => (isOneLost || changes.size > 0 ? [what] : []),
  };
}

export function createWriter(client: Database.Database, { lock, guard, retryWhileBusy }: WriterOptions) {
  client.pragma(`cache_size = -${CACHE_KIB}`);
  const inTransaction = client.transaction((work: () => unknown) => work());
  /** The error of the last write if that write failed because another program had the database locked. */
  let busy: DatabaseError | undefined;

  const writeNow = <T>(work: () => T): T => {
    try {
      const error = guard.findError();
      if (error !== undefined) throw error;
      const result = explainErrors(client.name, () => {
        lock.renew();
        return inTransaction.immediate(work) as T;
      });
      tryOrUndefined(guard.noteWrite);
      busy = undefined;
      return result;
    } finally {
      // Like a failure to look at the file, this must not hide the result of the transaction, which has ended.
      tryOrUndefined(() => client.pragma('shrink_memory'));
    }
  };
  const noteFailure = (error: unknown): void => {
    busy = error instanceof DatabaseError && error.busy ? error : undefined;
  };
  const retry: RetryWhileBusy = async (work, signal) => {
    try {
      return await retryWhileBusy(work, signal);
    } catch (error) {
      noteFailure(error);
      throw error;
    }
  };
  const ends = createPending('the end of at least one run', writeNow);
  const logins = createPending('at least one login', writeNow);
  /** Whether a login could not be written. Others are still being written. */
  let isLoginLate = false;
  /** In one transaction, since the last row is the state, which a row that a trigger refuses must not hide. */
  const writeLogins = (): void => {
    const some = logins.list();
    try {
      logins.write(some);
    } catch (error) {
      if (some.length < 2 || !isRefused(error)) throw error;
      logins.write(some.slice(-1));
      logins.lose(some);
    }
    isLoginLate = false;
  };
  return {
    /** Runs `work` in one immediate transaction: all or nothing is on disk. `signal` ends waiting for others. */
    write: <T>(work: () => T, signal?: AbortSignal): Promise<T> => retry(() => writeNow(work), signal),
    /** `recover` and `flush` call this function, which writes the end of a run, until it succeeds. */
    writeEndWhenPossible: ends.add,
    /** Writes a login, after those that are pending. If that fails, rejects; `recover` and `flush` write it later. */
    writeLogin: async (login: () => void): Promise<void> => {
      logins.add(login);
      try {
        await retry(writeLogins);
      } catch (error) {
        isLoginLate = true;
        throw error;
      }
    },
    /** Writes what is pending; waits for other programs. Never rejects. */
    flush: async (signal?: AbortSignal): Promise<void> => {
      const attempt = (work: () => void): Promise<void> => retry(work, signal).catch(() => undefined);
      await attempt(() => ends.write(ends.list()));
      // If one of them was refused, so were all.
      for (const end of ends.list()) {
        if (busy !== undefined || signal?.aborted) return;
        await attempt(() => ends.write([end]));
        await yieldToEventLoop();
      }
      if (isLoginLate) await attempt(writeLogins);
    },
    /** Names what could not be written; empty if everything was. */
    describeUnsaved: (): string => [...ends.unsaved(), ...logins.unsaved()].join(' and '),
    /** Renews the lock. Then tries to write if something is pending or `busy` is set. Never throws. */
    recover: (): void => {
      try {
        // If another worker has the lock, the next write throws the same error.
        lock.renew();
        if (busy !== undefined) writeNow(() => undefined);
      } catch (error) {
        noteFailure(error);
        return;
      }
      // A short lock is no reason to be unready.
      tryOrUndefined(() => ends.write(ends.list().slice(0, 1)));
      if (isLoginLate) tryOrUndefined(writeLogins);
    },
    /** Why a write would fail now, judging by the files and the last write; undefined if it should succeed. */
    writeError: () => guard.findError() ?? busy,
  };
}
