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
const MAX_PENDING = 1_000;

/** What can be pending. Logins are written in the order in which they happened: the last one is the state. */
const PENDING = { run: 'the end of at least one run', login: 'at least one login' };

type Pending = { readonly kind: keyof typeof PENDING; readonly change: () => void };

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
  /** What could not be written before, the oldest first. */
  const pending = new Set<Pending>();
  const lost = new Set<Pending['kind']>();

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
  const retry: RetryWhileBusy = async (work, signal) => {
    try {
      return await retryWhileBusy(work, signal);
    } catch (error) {
      noteFailure(error);
      throw error;
    }
  };
  const add = (row: Pending): Pending => {
    const [oldest] = pending;
    if (oldest !== undefined && pending.size >= MAX_PENDING) {
      pending.delete(oldest);
      lost.add(oldest.kind);
    }
    pending.add(row);
    return row;
  };
  /** Writes those that nothing else has written meanwhile. */
  const writePending = (rows: readonly Pending[]): void => {
    const left = rows.filter((row) => pending.has(row));
    if (left.length > 0) writeNow(() => left.map(({ change }) => change()));
    for (const row of left) pending.delete(row);
  };
  const flush = async (signal?: AbortSignal): Promise<void> => {
    const rows = [...pending];
    await retry(() => writePending(rows), signal).catch(() => undefined);
    // If one of them was refused, so were all.
    let isLoginRefused = false;
    for (const row of rows.filter((one) => pending.has(one))) {
      if (busy !== undefined) return;
      if (row.kind === 'login' && isLoginRefused) continue;
      await retry(() => writePending([row]), signal).catch(() => {
        isLoginRefused ||= row.kind === 'login';
      });
      await yieldToEventLoop();
    }
  };
  return {
    /** Runs `work` in one immediate transaction: all or nothing is on disk. `signal` ends waiting for others. */
    write: <T>(work: () => T, signal?: AbortSignal): Promise<T> => retry(() => writeNow(work), signal),
    /** `recover` and `flush` call this function, which writes the end of a run, until it succeeds. */
    writeWhenPossible: (change: () => void): void => void add({ kind: 'run', change }),
    /** Writes a login after all earlier ones. Rejects if it is the first that must wait until it can be written. */
    writeInOrder: async (change: () => void): Promise<void> => {
      const mustWait = [...pending].some(({ kind }) => kind === 'login');
      const row = add({ kind: 'login', change });
      await (mustWait ? flush() : retry(() => writePending([row])));
    },
    /** Writes what is pending; waits for other programs. Never rejects. */
    flush,
    /** Names what could not be written; empty if everything was. */
    describeUnsaved: (): string =>
      [...new Set([...lost, ...[...pending].map(({ kind }) => kind)])].map((kind) => PENDING[kind]).join(' and '),
    /** Renews the lock. Then tries to write if something is pending or `busy` is set. Never throws. */
    recover: (): void => {
      try {
        // If another worker has the lock, the next write throws the same error.
        lock.renew();
        const [oldest] = pending;
        if (oldest !== undefined) writePending([oldest]);
        else if (busy !== undefined) writeNow(() => undefined);
      } catch (error) {
        noteFailure(error);
      }
    },
    /** Why a write would fail now, judging by the files and the last write; undefined if it should succeed. */
    writeError: () => guard.findError() ?? busy,
  };
}
