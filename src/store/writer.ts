import type Database from 'better-sqlite3';
import { DatabaseError } from '../errors.ts';
import { yieldToEventLoop } from '../race-abort.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import type { RetryWhileBusy } from './busy.ts';
import { explainErrors } from './database-error.ts';
import type { FileGuard } from './detect-file-loss.ts';
import type { Lock } from './worker-lock.ts';

/** Large: pages that do not fit are written before COMMIT. With 16 MB, 100,000 new leagues took 3.2 s, not 2.5 s. */
const CACHE_KIB = 512 * 1024;
/** More can only be pending if another program's trigger refuses them all. */
const MAX_PENDING_ENDS = 1_000;

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
  /** Each writes the end of a run, which could not be written before; the oldest first. */
  const pendingEnds = new Set<() => void>();
  let isEndLost = false;

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
    /** Runs `work` in one immediate transaction: all or nothing is on disk. `signal` ends waiting for others. */
    write,
    /** `recover` and `flush` call this function, which writes the end of a run, until it succeeds. */
    writeWhenPossible: (end: () => void): void => {
      const [oldest] = pendingEnds;
      if (oldest !== undefined && pendingEnds.size >= MAX_PENDING_ENDS) isEndLost = pendingEnds.delete(oldest);
      pendingEnds.add(end);
    },
    /** Writes the ends of runs that are pending; waits for other programs. Never rejects. */
    flush: async (signal?: AbortSignal): Promise<void> => {
      const ends = [...pendingEnds];
      const attempt = (some: readonly (() => void)[]): Promise<unknown> =>
        write(() => some.map((end) => end()), signal).then(
          () => some.map((end) => pendingEnds.delete(end)),
          () => undefined,
        );
      if (ends.length > 0) await attempt(ends);
      // If one of them was refused, so were all.
      for (const end of ends.filter((one) => pendingEnds.has(one))) {
        if (busy !== undefined) return;
        await attempt([end]);
        await yieldToEventLoop();
      }
    },
    hasUnsavedRun: (): boolean => isEndLost || pendingEnds.size > 0,
    /** Renews the lock. Then tries to write if a run's end is pending or `busy` is set. Never throws. */
    recover: (): void => {
      try {
        // If another worker has the lock, the next write throws the same error.
        lock.renew();
        const [oldest] = pendingEnds;
        if (busy !== undefined || oldest !== undefined) writeNow(() => oldest?.());
        if (oldest !== undefined) pendingEnds.delete(oldest);
      } catch (error) {
        noteFailure(error);
      }
    },
    /** Why a write would fail now, judging by the files and the last write; undefined if it should succeed. */
    writeError: () => guard.findError() ?? busy,
  };
}
