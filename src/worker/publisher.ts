import { statSync } from 'node:fs';
import { CopyKilledError, type RunError, toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { isWritable } from '../store/copy.ts';
import { compareCopy } from '../store/copy-origin.ts';
import type { Listener } from '../sync/report.ts';
import type { Clock } from '../time/clock.ts';
import type { CopyDatabase } from './copy-process.ts';

export type PublisherOptions = {
  readonly path: string;
  /** When a run of an earlier worker last changed the data; an older copy is out of date. */
  readonly changedAt: string | undefined;
  readonly target: string;
  readonly copy: CopyDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
};

const MAX_AGE_MS = 3_600_000;
const RETRY_MS = 60_000;
/** How long copying may continue after a stop, so that the last poll's changes are published. */
const GRACE_MS = 3_000;

/** Keeps a copy of the database up to date for readers elsewhere. Polls never wait for a copy or fail because of it. */
export class Publisher implements AsyncDisposable {
  /** The error of the last attempt, if it failed. */
  failure: RunError | undefined;
  private readonly options: PublisherOptions;
  private readonly graceOver = new AbortController();
  private readonly disposed = new AbortController();
  /** When the next copy is due, in ms on the monotonic clock. */
  private dueAt: number;
  private isWanted = false;
  private publishing: Promise<void> | undefined;

  constructor(options: PublisherOptions) {
    const { clock, stop } = options;
    this.options = options;
    this.dueAt = clock.monotonic() + MAX_AGE_MS - ageOf(options, clock.now());
    const endGrace = (): void => this.graceOver.abort();
    const startGrace = () => clock.sleep(GRACE_MS, this.disposed.signal).then(endGrace, () => undefined);
    if (stop.aborted) startGrace();
    else stop.addEventListener('abort', startGrace, { once: true });
  }

  readonly onEvent: Listener = (event) => {
    if (event.type === 'runEnded' && event.report.wrote) this.request();
  };

  refreshIfDue(): void {
    if (this.publishing === undefined && this.options.clock.monotonic() >= this.dueAt) this.request();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publishing;
    this.disposed.abort();
  }

  /** Starts a copy. If one is in progress, another one follows it, however many requests come in the meantime. */
  private request(): void {
    this.isWanted = true;
    this.publishing ??= this.drain();
  }

  private async drain(): Promise<void> {
    const { clock } = this.options;
    while (this.isWanted && !this.graceOver.signal.aborted) {
      this.isWanted = false;
      const startedAt = clock.monotonic();
      this.dueAt = (await this.publish()) ? startedAt + MAX_AGE_MS : clock.monotonic() + RETRY_MS;
    }
    this.publishing = undefined;
  }

  /** Resolves to whether the copy was made; never rejects. */
  private async publish(): Promise<boolean> {
    const { path, target, copy, log, stop } = this.options;
    const { signal } = this.graceOver;
    try {
      await copy(path, target, { replace: 'published', signal });
      if (this.failure !== undefined) log.info({ target }, 'the published copy is made again');
      else log.debug({ target }, 'the copy was published');
      this.failure = undefined;
      return true;
    } catch (error) {
      // Not a failure: the grace period is over, or the copy process was killed together with the worker (systemd).
      if (signal.aborted || (stop.aborted && error instanceof CopyKilledError)) return false;
      const found = toRunError(error);
      if (found.message !== this.failure?.message)
        log.warn({ err: found, target }, 'the published copy could not be made');
      this.failure = found;
      return false;
    }
  }
}

/** The age of the published copy in ms; infinite if it is missing, out of date, writable or of another database. */
function ageOf({ path, target, changedAt }: PublisherOptions, now: number): number {
  try {
    const { mtimeMs } = statSync(target);
    const isLate = changedAt !== undefined && mtimeMs < Date.parse(changedAt);
    // A copy from the future (clock set back) or of a later state (database restored from a backup) is not current.
    const isCurrent = mtimeMs <= now && !isLate && !isWritable(target) && compareCopy(target, path) === 'earlier';
    if (isCurrent) return now - mtimeMs;
  } catch {
    // There is no copy yet, or the copy process will report the error.
  }
  return Number.POSITIVE_INFINITY;
}
