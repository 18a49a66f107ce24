import { statSync } from 'node:fs';
import { CopyKilledError, DatabaseError, type RunError, toRunError } from '../errors.ts';
import type { Listener } from '../events.ts';
import type { Log } from '../log.ts';
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
  /** From when on (ms) a copy that exists is current; infinite once this publisher has made one or must make one. */
  private keepSince: number;
  private isWanted = false;
  private publishing: Promise<void> | undefined;

  constructor(options: PublisherOptions) {
    const { clock, stop, changedAt } = options;
    this.options = options;
    this.dueAt = clock.monotonic();
    this.keepSince = Math.max(clock.now() - MAX_AGE_MS, changedAt === undefined ? 0 : Date.parse(changedAt));
    const endGrace = (): void => this.graceOver.abort();
    const startGrace = () => clock.sleep(GRACE_MS, this.disposed.signal).then(endGrace, () => undefined);
    if (stop.aborted) startGrace();
    else stop.addEventListener('abort', startGrace, { once: true });
  }

  readonly onEvent: Listener = (event) => {
    if (event.type !== 'runEnded' || !event.report.wrote) return;
    this.keepSince = Number.POSITIVE_INFINITY;
    this.request();
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
      const isFirst = this.keepSince < Number.POSITIVE_INFINITY;
      const isMade = await this.publish();
      this.dueAt = isMade ? startedAt + MAX_AGE_MS : clock.monotonic() + RETRY_MS;
      if (!isMade) continue;
      if (isFirst) this.dueAt -= ageOf(this.options);
      this.keepSince = Number.POSITIVE_INFINITY;
    }
    this.publishing = undefined;
  }

  /** Resolves to whether the copy was made; never rejects. */
  private async publish(): Promise<boolean> {
    const { path, target, copy, log, stop } = this.options;
    const overtime = AbortSignal.timeout(MAX_AGE_MS);
    const signal = AbortSignal.any([this.graceOver.signal, overtime]);
    try {
      await copy(path, target, { replace: 'published', keepSince: this.keepSince, signal });
      if (this.failure !== undefined) log.info({ target }, 'the published copy is made again');
      else log.debug({ target }, 'the copy was published');
      this.failure = undefined;
      return true;
    } catch (error) {
      // Not a failure: the grace period is over, or the copy process was killed together with the worker (systemd).
      if (this.graceOver.signal.aborted || (stop.aborted && error instanceof CopyKilledError)) return false;
      const found = overtime.aborted
        ? new DatabaseError(`Copying ${path} to ${target} took too long.`)
        : toRunError(error);
      if (found.message !== this.failure?.message)
        log.warn({ err: found, target }, 'the published copy could not be made');
      this.failure = found;
      return false;
    }
  }
}

/** The age of the published copy in ms; 0 if it is missing. */
function ageOf({ target, clock }: PublisherOptions): number {
  const { mtimeMs = clock.now() } = statSync(target, { throwIfNoEntry: false }) ?? {};
  return Math.min(Math.max(0, clock.now() - mtimeMs), MAX_AGE_MS);
}
