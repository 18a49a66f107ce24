import { DatabaseError } from '../../errors.ts';
import type { Clock } from '../../time/clock.ts';
import { withOwnSnapshot } from '../connection.ts';
import { explainErrors } from '../database-error.ts';
import { inodeOf } from '../database-file.ts';
import { createIdentity } from '../tables/identity.ts';
import { BATCH, type Change, type FeedFilter, type FeedStart, findRange, readBatch } from './feed.ts';

export type FollowOptions = {
  readonly filter: FeedFilter;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly stop: AbortSignal;
};

const POLL_INTERVAL_MS = 500;

/**
 * Yields the changes from `start` on, and each new change within a second, until `stop` aborts; then rejects with its
 * reason. Waits while other programs have the database locked. Rejects with a DatabaseError if the database is deleted
 * or replaced.
 *
 * Opens the database for each look: a connection that stays open would keep a worker that stops from leaving a single
 * file, and would go on reading a file that was deleted.
 */
export async function* followFeed(path: string, start: FeedStart, options: FollowOptions) {
  const { filter, clock, stop } = options;
  const assertSame = createFileCheck(path);
  let from = start;
  let identity: unknown;

  const readNew = () =>
    withOwnSnapshot(path, (db) => {
      const found = createIdentity(db).id();
      identity ??= found;
      const range = findRange(db, from, filter);
      if (found !== identity || ('afterSeq' in from && range.last < from.afterSeq)) throw replacedError(path);
      const { entries, more } = readBatch(db, range, BATCH);
      return { entries, more, next: nextStart(from, range, more ? entries : []) };
    });

  for (;;) {
    assertSame();
    const batch = unlessBusy(readNew, assertSame);
    // The path may have led to another file while it was read.
    assertSame();
    if (batch !== undefined) {
      from = batch.next;
      if (batch.entries.length > 0) yield batch.entries;
    }
    if (batch?.more === true) stop.throwIfAborted();
    else await clock.sleep(POLL_INTERVAL_MS, stop);
  }
}

/** A start at a time in the future stays as it is until the feed has reached that time. */
function nextStart(from: FeedStart, range: { after: number; last: number }, batch: readonly Change[]): FeedStart {
  if ('sinceAt' in from && range.after >= range.last) return from;
  return { afterSeq: batch.at(-1)?.seq ?? range.last };
}

/** Undefined if another program has the database locked. */
function unlessBusy<T>(work: () => T, assertSame: () => void): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof DatabaseError && error.busy) return undefined;
    assertSame();
    throw error;
  }
}

/** The check throws a DatabaseError if the file that is there now is not at the path any more. */
function createFileCheck(path: string): () => void {
  const readInode = () => explainErrors(path, () => inodeOf(path));
  const opened = readInode();
  return () => {
    const found = readInode();
    if (found === undefined) throw new DatabaseError(`The database ${path} was deleted while it was followed.`);
    if (found !== opened) throw replacedError(path);
  };
}

function replacedError(path: string): DatabaseError {
  const fix =
    'follow it anew, from the last change of the new file that you have; a published copy is replaced all the time, so follow the database of the worker';
  return new DatabaseError(`The database ${path} was replaced while it was followed.`, { fix });
}
