import { statSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import { CutShortError, type RunError, toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { isWritable } from '../store/copy.ts';
import { kinshipOf } from '../store/origin.ts';
import type { Listener } from '../sync/events.ts';
import type { Copy } from './copier.ts';

/** Keeps a copy of the database for readers elsewhere. Never delays or fails a poll; a failure is logged, and tried again. */
export type Publisher = AsyncDisposable & {
  /** Rebuilds the copy after a run that changed something. */
  readonly note: Listener;
  /** Rebuilds the copy if there is none, or an old one. */
  readonly look: () => void;
  /** Why the last copy could not be made; undefined if it was made, or none was tried. */
  readonly failure: () => RunError | undefined;
};

export type PublisherOptions = {
  /** The database. */
  readonly path: string;
  /** When it was last changed by a run, before this worker; its copy has to be younger. */
  readonly changedAt: string | undefined;
  /** Where its copy goes. */
  readonly target: string;
  readonly copy: Copy;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the worker is to end. */
  readonly stop: AbortSignal;
};

const OLDEST_MS = 3_600_000;
const RETRY_MS = 60_000;
/** What the last poll changed may still be copied; a worker that stops has no time for more. */
const GRACE_MS = 3_000;

export function createPublisher(options: PublisherOptions): Publisher {
  const { clock, stop } = options;
  const grace = createGrace(clock, stop);
  const attempts = createAttempts(options, grace.signal);
  let due = dueIn(clock, OLDEST_MS - ageOf(options, clock.now()));
  let isWanted = false;
  let publishing: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    while (isWanted && !grace.signal.aborted) {
      isWanted = false;
      const next = dueIn(clock, OLDEST_MS);
      due = (await attempts.publish()) ? next : dueIn(clock, RETRY_MS);
    }
    publishing = undefined;
  };
  // Changes during a copy are in the next one, however many they are.
  const request = (): void => {
    isWanted = true;
    publishing ??= drain();
  };
  return {
    note: (event) => {
      if (event.type === 'runEnded' && event.report.wrote) request();
    },
    look: () => {
      if (publishing === undefined && due()) request();
    },
    failure: attempts.failure,
    [Symbol.asyncDispose]: async () => {
      await publishing;
      grace.end();
    },
  };
}

/** Whether the time is over, by either clock: one may step, the other stands still in a suspended machine. */
function dueIn(clock: Clock, ms: number): () => boolean {
  const [wall, monotonic] = [clock.now() + ms, clock.monotonic() + ms];
  return () => clock.now() >= wall || clock.monotonic() >= monotonic;
}

/** Its signal aborts some time after `stop`, unless it has ended by then. */
function createGrace(clock: Clock, stop: AbortSignal) {
  const over = new AbortController();
  const ended = new AbortController();
  const start = (): void => {
    clock.sleep(GRACE_MS, ended.signal).then(
      () => over.abort(),
      () => undefined,
    );
  };
  if (stop.aborted) start();
  else stop.addEventListener('abort', start, { once: true });
  return { signal: over.signal, end: () => ended.abort() };
}

/** Makes the copy and puts it into its place. */
function createAttempts({ path, target, copy, log, stop }: PublisherOptions, signal: AbortSignal) {
  let failure: RunError | undefined;
  return {
    failure: () => failure,
    /** Says whether the copy was made; never rejects. */
    publish: async (): Promise<boolean> => {
      try {
        await copy(path, target, { replace: 'published', signal });
        if (failure !== undefined) log.info({ target }, 'the published copy is made again');
        else log.debug({ target }, 'the copy was published');
        failure = undefined;
        return true;
      } catch (error) {
        // A supervisor that ends the worker may end its processes, too.
        if (signal.aborted || (stop.aborted && error instanceof CutShortError)) return false;
        const found = toRunError(error);
        // The same failure is logged once, not at every try.
        if (found.message !== failure?.message)
          log.warn({ err: found, target }, 'the published copy could not be made');
        failure = found;
        return false;
      }
    },
  };
}

/** Infinite if there is no copy of the present state, or what does not look like one, so that it is rebuilt at once. */
function ageOf({ path, target, changedAt }: PublisherOptions, now: number): number {
  try {
    const { mtimeMs } = statSync(target);
    const isLate = changedAt !== undefined && mtimeMs < Date.parse(changedAt);
    // A clock that has stepped back since makes none young, nor does a database that was restored.
    const isPresent = mtimeMs <= now && !isLate && !isWritable(target) && kinshipOf(target, path) === 'earlier';
    if (isPresent) return now - mtimeMs;
  } catch {
    // The copying process says what is wrong there.
  }
  return Number.POSITIVE_INFINITY;
}
