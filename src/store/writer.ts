import type Database from 'better-sqlite3';
import { DatabaseError } from '../errors.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import type { RetryWhileBusy } from './busy.ts';
import { explainErrors } from './database-error.ts';
import type { FileGuard } from './file-loss.ts';
import type { Lock } from './lock.ts';

/** Large: pages that do not fit are written before COMMIT. With 16 MB, 100,000 new leagues took 3.2 s, not 2.5 s. */
const CACHE_KIB = 512 * 1024;

type WriterOptions = {
  readonly lock: Pick<Lock, 'renew'>;
  readonly guard: FileGuard;
  readonly retryWhileBusy: RetryWhileBusy;
};

export function createWriter(client: Database.Database, { lock, guard, retryWhileBusy }: WriterOptions) {
  client.pragma(`cache_size = -${CACHE_KIB}`);
  const inTransaction = client.transaction((work: () => unknown) => work());
  /** The error of the last write if that write failed because another program had the database locked. */
  let busy: DatabaseError | undefined;
  /** Writes the end of a run, which could not be written before. */
  let pendingEnd: (() => void) | undefined;

  const writeNow = <T>(work: () => T): T => {
    try {
      const error = guard.findError();
      if (error !== undefined) throw error;
      const result = explainErrors(client.name, () => {
        lock.renew();
        return inTransaction.immediate(work) as T;
      });
      guard.noteWrite();
      busy = undefined;
      return result;
    } finally {
      // A failure to free memory must not hide the result of the transaction, which has ended.
      tryOrUndefined(() => client.pragma('shrink_memory'));
    }
  };
  const noteFailure = (error: unknown): void => {
    busy = error instanceof DatabaseError && error.busy ? error : undefined;
  };
  const write: RetryWhileBusy = async (work, signal) => {
    try {
      return await retryWhileBusy(() => writeNow(work), signal);
    } catch (error) {
      noteFailure(error);
      throw error;
    }
  };
  return {
    /**
     * Runs `work` in one immediate transaction: afterwards, all its writes or none are on disk. `signal` ends only
     * the wait for other programs. Rejects with a DatabaseError, the StoppedError of `signal`, or an error of `work`.
     */
    write,
    /** `recover` and `flush` call this function, which writes the end of a run, until it succeeds. */
    writeWhenPossible: (end: () => void): void => {
      pendingEnd = end;
    },
    /** Writes the end of a run that is pending; waits for other programs. Never rejects. */
    flush: async (signal?: AbortSignal): Promise<void> => {
      if (pendingEnd === undefined) return;
      const isDone = await write(pendingEnd, signal).then(
        () => true,
        () => false,
      );
      if (isDone) pendingEnd = undefined;
    },
    hasUnsavedRun: (): boolean => pendingEnd !== undefined,
    /** Renews the lock. Then tries to write if a run's end is pending or `busy` is set. Never throws. */
    recover: (): void => {
      try {
        // If another worker has the lock, the next write throws the same error.
        lock.renew();
        if (busy !== undefined || pendingEnd !== undefined) writeNow(() => pendingEnd?.());
        pendingEnd = undefined;
      } catch (error) {
        noteFailure(error);
      }
    },
    /** Why a write would fail now, judging by the files and the last write; undefined if it should succeed. */
    writeError: () => guard.findError() ?? busy,
  };
}
