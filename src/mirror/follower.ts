import { labelOf, type MirrorSource } from '../config/mirror.ts';
import { RunError, SettingsError, toRunError } from '../errors.ts';
import type { Listener } from '../events.ts';
import type { Log } from '../log.ts';
import { type MirrorSnapshot, openMirrorSnapshot } from '../store/queries/mirror.ts';
import type { Store } from '../store/store.ts';
import { exponentialDelayMs } from '../time/backoff.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';
import { createWakeableSleep } from '../time/wakeable-sleep.ts';
import { connect, type Session } from './connect.ts';
import type { RunsToCompare } from './equal.ts';
import { readOrigin } from './fill.ts';
import { findMirrorMigrations, prepareMirror } from './prepare.ts';
import { type Progress, transferBatch } from './transfer.ts';

export type FollowerOptions = {
  readonly store: Pick<Store, 'path' | 'writeError'>;
  readonly source: MirrorSource;
  readonly clock: Clock;
  readonly log: Log;
};

/** Other processes change the database as well, such as `accept-removals`. */
const EVERY_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

/** Keeps the mirror of a worker up to date. Polls never wait for it or fail because of it. */
export class Follower {
  private readonly options: FollowerOptions;
  private session: Session | undefined;
  private runs: RunsToCompare = 'all';
  private failures = 0;
  private lastError: string | undefined;
  private nextAt: number | undefined;
  /** The last transaction, and when (ms) it was written. */
  private done: (Progress & { readonly at: number }) | undefined;
  private label: string;
  private readonly schema: string;
  private readonly rest: ReturnType<typeof createWakeableSleep>;

  constructor(options: FollowerOptions) {
    this.options = options;
    this.rest = createWakeableSleep(options.clock);
    // Later, the files may be those of another version.
    findMirrorMigrations();
    const target = options.source();
    this.label = labelOf(target);
    this.schema = target.schema;
  }

  readonly onEvent: Listener = ({ type }) => {
    // A mirror that fails is tried again on its own schedule.
    if (type === 'runEnded' && this.failures === 0) this.retryNow();
  };

  retryNow(): void {
    this.rest.wake();
  }

  status() {
    const { label, schema, done, failures, lastError, nextAt } = this;
    return {
      host: label,
      schema,
      seq: done?.seq ?? null,
      mirrored_at: done === undefined ? null : formatTimestamp(done.at),
      failed_attempts: failures,
      last_error: lastError ?? null,
      next_attempt_at: nextAt === undefined ? null : formatTimestamp(nextAt),
    };
  }

  /** Follows the database until the signal aborts; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waitMs = await this.step(signal).catch((error: unknown) => this.noteFailure(error, signal));
      if (waitMs > 0) await this.rest.sleep(waitMs, signal);
    }
    this.session?.[Symbol.dispose]();
  }

  /** Writes one transaction, and resolves to how long to wait before the next, in ms. */
  private async step(signal: AbortSignal): Promise<number> {
    const session = this.session?.isOpen() ? this.session : await this.open(signal);
    const { runs, openSnapshot } = this;
    const progress = await session.transaction((tx) => transferBatch(tx, { openSnapshot, runs }));
    this.noteSuccess(progress);
    if (progress.seq < progress.lastSeq) return 0;
    this.runs = 'recent';
    return EVERY_MS;
  }

  private async open(signal: AbortSignal): Promise<Session> {
    const target = this.options.source();
    this.label = labelOf(target);
    this.runs = 'all';
    const session = await connect(target, signal);
    this.session = session;
    await prepareMirror(session, await readOrigin(this.openSnapshot));
    return session;
  }

  private readonly openSnapshot = async (): Promise<MirrorSnapshot> => {
    const { path, writeError } = this.options.store;
    const found = writeError();
    // Another database may be at the path.
    if (found?.gone) throw found;
    return openMirrorSnapshot(path);
  };

  private noteSuccess(progress: Progress): void {
    const { log, clock } = this.options;
    const { label, failures } = this;
    const isFirst = this.done === undefined || failures > 0;
    this.done = { ...progress, at: clock.now() };
    const line = { host: label, schema: this.schema, seq: progress.seq, last_seq: progress.lastSeq };
    if (isFirst)
      log.info({ ...line, failures }, `the mirror at ${label} ${failures > 0 ? 'is written again' : 'is written'}`);
    else log.debug(line, `the mirror at ${label} has change ${progress.seq} of ${progress.lastSeq}`);
    this.failures = 0;
    this.lastError = undefined;
    this.nextAt = undefined;
  }

  private noteFailure(error: unknown, signal: AbortSignal): number {
    this.session?.[Symbol.dispose]();
    this.session = undefined;
    if (signal.aborted) return 0;
    const { log, clock } = this.options;
    const failure = toFailure(error);
    const { message } = failure;
    const isNew = message !== this.lastError;
    this.failures += 1;
    const waitMs = exponentialDelayMs(this.failures, FIRST_RETRY_MS, LONGEST_RETRY_MS);
    this.lastError = message;
    this.nextAt = clock.now() + waitMs;
    const line = { host: this.label, schema: this.schema, failures: this.failures, err: failure };
    log[isNew ? 'warn' : 'info'](line, `${message} The next attempt is in ${formatDuration(waitMs)}; polls continue`);
    return waitMs;
  }
}

/** A file with the URL may have become unreadable since the start. */
function toFailure(error: unknown): RunError {
  return error instanceof SettingsError ? new RunError('network', true, `${error.message}.`) : toRunError(error);
}
