import { rmSync, statSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { isCopy, refuseReplacing, replaceCopy } from '../store/copy.ts';
import { prepareFolder } from '../store/folder.ts';
import type { RunReport } from '../sync/report.ts';
import type { Copy } from './copier.ts';

/** Keeps a copy of the database for readers elsewhere. Never delays or fails a poll; a fault is logged, and mended. */
export type Publisher = AsyncDisposable & {
  /** Has the copy made anew where the run changed something. */
  readonly noteRun: (report: RunReport) => void;
  /** Has the copy made anew where there is none, or an old one. */
  readonly look: () => void;
};

export type PublisherOptions = {
  /** The database. */
  readonly path: string;
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
  return { noteRun: () => undefined, look: () => undefined, [Symbol.asyncDispose]: async () => undefined };
}

function startPublisher(options: PublisherOptions & { readonly target: string }): Publisher {
  const { target, clock, stop } = options;
  const { signal, hurry, settle } = createGrace(clock);
  const publish = createPublishing(options, signal);
  let nextAt = clock.monotonic() + OLDEST_MS - ageOf(target, options.path, clock.now());
  let wanted = false;
  let publishing: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    while (wanted && !signal.aborted) {
      wanted = false;
      const published = await publish();
      nextAt = clock.monotonic() + (published ? OLDEST_MS : RETRY_MS);
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
    noteRun: ({ outcome }) => {
      if (outcome === 'changed' || outcome === 'held') request();
    },
    look: () => {
      if (publishing === undefined && clock.monotonic() >= nextAt) request();
    },
    [Symbol.asyncDispose]: async () => {
      await publishing;
      settle();
    },
  };
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
  { path, target, copy, log }: PublisherOptions & { readonly target: string },
  signal: AbortSignal,
): () => Promise<boolean> {
  const part = `${target}.part`;
  let fault = '';
  const say = (error: unknown): void => {
    const failure = toRunError(error);
    // The same fault is said once, not at every try.
    if (failure.message !== fault) log.warn({ err: failure, target }, 'the published copy could not be made');
    fault = failure.message;
  };
  return async () => {
    try {
      prepareFolder(target);
      refuseReplacing(target, path);
      rmSync(part, { force: true });
      await copy(path, part, signal);
      replaceCopy(part, target, path);
      if (fault !== '') log.info({ target }, 'the published copy is made again');
      else log.debug({ target }, 'the copy was published');
      fault = '';
      return true;
    } catch (error) {
      if (!signal.aborted) say(error);
      return false;
    }
  };
}

/** Infinite where there is no copy, or something else in its place, so that this is found out at once. */
function ageOf(target: string, path: string, now: number): number {
  const madeAt = isCopy(target, path) ? statSync(target).mtimeMs : Number.NEGATIVE_INFINITY;
  // A clock that has stepped back since makes no copy young.
  return madeAt > now ? Number.POSITIVE_INFINITY : now - madeAt;
}
