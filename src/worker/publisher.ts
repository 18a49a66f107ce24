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
  /** Has the copy made anew after a run that changed something. */
  readonly note: Listener;
  /** Has the copy made anew where there is none, or an old one. */
  readonly look: () => void;
  /** Why the last copy could not be made; undefined where it was made, or none was tried. */
  readonly failure: () => RunError | undefined;
};

export type PublisherOptions = {
  /** The database. */
  readonly path: string;
  /** When it was last changed by a run, before this worker; its copy is to be of later than that. */
  readonly changedAt: string | undefined;
  /** Where its copy goes; undefined where none is wanted. */
  readonly target: string | undefined;
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

export function createPublisher({ target, ...options }: PublisherOptions): Publisher {
  if (target !== undefined) return startPublisher({ target, ...options });
  return {
    note: () => undefined,
    look: () => undefined,
    failure: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function startPublisher(options: PublisherOptions & { readonly target: string }): Publisher {
  const { clock, stop } = options;
  const { signal, hurry, settle } = createGrace(clock);
  const { publish, failure } = createPublishing(options, signal);
  let due = dueIn(clock, OLDEST_MS - ageOf(options, clock.now()));
  let wanted = false;
  let publishing: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    while (wanted && !signal.aborted) {
      wanted = false;
      const next = dueIn(clock, OLDEST_MS);
      due = (await publish()) ? next : dueIn(clock, RETRY_MS);
    }
    publishing = undefined;
  };
  // Changes during a copy are in the next one, however many they are.
  const request = (): void => {
    wanted = true;
    publishing ??= drain();
  };
  if (stop.aborted) hurry();
  else stop.addEventListener('abort', hurry, { once: true });

  return {
    note: (event) => {
      if (event.type === 'runEnded' && event.report.wrote) request();
    },
    look: () => {
      if (publishing === undefined && due()) request();
    },
    failure,
    [Symbol.asyncDispose]: async () => {
      await publishing;
      settle();
    },
  };
}

/** Whether the time is over, by either clock: one may step, the other stands still in a suspended machine. */
function dueIn(clock: Clock, ms: number): () => boolean {
  const [wall, monotonic] = [clock.now() + ms, clock.monotonic() + ms];
  return () => clock.now() >= wall || clock.monotonic() >= monotonic;
}

/** A signal that aborts some time after `hurry`, unless everything has settled by then. */
function createGrace(clock: Clock) {
  const over = new AbortController();
  const settled = new AbortController();
  return {
    signal: over.signal,
    hurry: () => {
      clock.sleep(GRACE_MS, settled.signal).then(
        () => over.abort(),
        () => undefined,
      );
    },
    settle: () => settled.abort(),
  };
}

/** One copy, made and put into its place. Says whether that went well; never rejects. */
function createPublishing(
  { path, target, copy, log, stop }: PublisherOptions & { readonly target: string },
  signal: AbortSignal,
): { readonly publish: () => Promise<boolean>; readonly failure: Publisher['failure'] } {
  let failure: RunError | undefined;
  const say = (error: unknown): void => {
    const found = toRunError(error);
    // The same fault is said once, not at every try.
    if (found.message !== failure?.message) log.warn({ err: found, target }, 'the published copy could not be made');
    failure = found;
  };
  const publish = async (): Promise<boolean> => {
    try {
      await copy(path, target, { replace: 'published', signal });
      if (failure !== undefined) log.info({ target }, 'the published copy is made again');
      else log.debug({ target }, 'the copy was published');
      failure = undefined;
      return true;
    } catch (error) {
      // A supervisor that ends the worker may end its processes, too.
      const meant = signal.aborted || (stop.aborted && error instanceof CutShortError);
      if (!meant) say(error);
      return false;
    }
  };
  return { publish, failure: () => failure };
}

/** Infinite where there is no copy of the present state, or what does not look like one, so that it is found out at once. */
function ageOf({ path, target, changedAt }: PublisherOptions & { readonly target: string }, now: number): number {
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
