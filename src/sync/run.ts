import type { Config } from '../config/config.ts';
import { type RunError, StoppedError, toRunError } from '../errors.ts';
import type { Drift, DriftLog } from '../league/drift.ts';
import { settledOrAborted } from '../race-abort.ts';
import type { Client, FetchResult, RequestStats } from '../service/client.ts';
import type { Rejection } from '../service/parse-leagues.ts';
import { type Deadline, startDeadline } from '../service/retry.ts';
import type { Store } from '../store/store.ts';
import type { RunEnd, RunKind, RunStamp, Trigger } from '../store/tables/runs.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';
import { NO_COUNTS, type RunCounts, type RunEvent, type RunReport } from './report.ts';

export type RunDeps = Pick<Config, 'baseUrl' | 'scope' | 'removalLimit' | 'runTimeoutMs'> & {
  readonly store: Store;
  readonly client: Client;
  readonly drift: DriftLog;
  readonly clock: Clock;
  /** When the current Retry-After ends, in ms since the epoch; 0 if there is none. */
  readonly pausedUntil: () => number;
  /** Identifies the service and the account; contains no secret. */
  readonly fingerprint: string;
  readonly programVersion: string;
  readonly scrub: (text: string) => string;
  /** Whether the next good poll takes the database over from another service. */
  readonly serviceMoved?: boolean;
  readonly emit: (event: RunEvent) => void;
  /** When the leagues of a poll that succeeds now (ms) become stale. */
  readonly staleAt: (now: number) => string;
};

export type ApplyResult = {
  readonly outcome: 'changed' | 'unchanged' | 'held';
  readonly counts: RunCounts;
  readonly heldBecause?: string | undefined;
  /** Rejections that the run opened or reopened. Omits leagues that already had an open rejection. */
  readonly newRejections?: readonly Rejection[];
};

/** One run and its row in `runs`. Call `begin`, then `finish`. If they or the work between them fail, call `fail`. */
export class Run implements Disposable {
  readonly deadline: Deadline & Disposable;
  readonly stats: RequestStats = { attempts: 0 };
  private readonly deps: RunDeps;
  private readonly kind: RunKind;
  private readonly trigger: Trigger;
  private readonly stop: AbortSignal;
  private readonly startedMonotonic: number;
  /** Null until the row of the run is inserted. */
  runId: number | null = null;

  constructor(deps: RunDeps, kind: RunKind, trigger: Trigger, stop: AbortSignal) {
    this.deps = deps;
    this.kind = kind;
    this.trigger = trigger;
    this.stop = stop;
    this.startedMonotonic = deps.clock.monotonic();
    this.deadline = startDeadline(deps.clock, deps.runTimeoutMs, stop);
  }

  [Symbol.dispose](): void {
    this.deadline[Symbol.dispose]();
  }

  async begin(): Promise<void> {
    const { kind, trigger } = this;
    const { store, scope, fingerprint, programVersion, clock, emit } = this.deps;
    emit({ type: 'runStarted', kind });
    const row = {
      kind,
      trigger,
      scope: kind === 'leagues' ? scope : null,
      started_at: formatTimestamp(clock.now()),
      fingerprint,
      program_version: programVersion,
      not_before: this.notBefore(),
    };
    this.runId = await store.write(() => store.runs.start(row), this.deadline.signal);
  }

  beforeDeadline<T>(work: Promise<T>): Promise<T> {
    return settledOrAborted(work, this.deadline.signal);
  }

  /** In one transaction, calls `apply`, stores new drift and completes the row. */
  async finish(meta: Partial<FetchResult>, apply: (stamp: RunStamp) => ApplyResult): Promise<RunReport> {
    const { store, drift, clock } = this.deps;
    const { runId } = this;
    if (runId === null) throw new Error('the run was not begun');
    // Calculated outside of the transaction, since the next times of a rare schedule take long to find.
    const stale_at = this.kind === 'leagues' ? this.deps.staleAt(clock.now()) : null;
    let departures: readonly Drift[] = [];
    const result = await store.write(() => {
      const at = store.nextTimestamp(clock.now());
      const before = store.rowsWritten();
      const { outcome, counts, heldBecause, newRejections: rejections = [] } = apply({ runId, at });
      departures = drift.list();
      const newFindings = { drift: store.drift.add(departures, { runId, at }), rejections };
      const wrote = store.rowsWritten() > before;
      store.runs.finish(runId, {
        finished_at: at,
        outcome,
        ...counts,
        ...this.requestColumns(),
        service_message: meta.message ?? null,
        service_timestamp: meta.timestamp ?? null,
        etag: meta.etag ?? null,
        last_modified: meta.lastModified ?? null,
        stale_at,
      });
      const timestamps = { finishedAt: at, ...(stale_at && { staleAt: stale_at }) };
      return { outcome, counts, heldBecause, newFindings, wrote, ...timestamps } satisfies Partial<RunReport>;
    }, this.deadline.signal);
    drift.remove(departures);
    return this.report(result);
  }

  /** Records a failure or an interruption; never rejects. The report of a recorded interruption has no error. */
  async fail(error: unknown): Promise<RunReport> {
    const stopped = this.stop.aborted && error === this.stop.reason;
    const failure = stopped ? undefined : toRunError(error);
    const unrecorded = this.runId === null ? undefined : await this.recordFailure(this.runId, failure);
    return this.report({ outcome: stopped ? 'interrupted' : 'failed' }, failure ?? unrecorded);
  }

  /** If the row cannot be written, resolves to the error, and the next transaction that succeeds writes the row. */
  private async recordFailure(runId: number, error: RunError | undefined): Promise<RunError | undefined> {
    const { store, clock } = this.deps;
    const end: RunEnd = {
      finished_at: store.nextTimestamp(clock.now()),
      outcome: error === undefined ? 'interrupted' : 'failed',
      ...this.requestColumns(error),
      error_kind: error?.kind ?? null,
      error_message: error?.message ?? new StoppedError().message,
      service_message: error?.serviceMessage ?? null,
    };
    const finish = (): void => store.runs.finish(runId, end);
    try {
      // During a stop, the deadline's signal is already aborted and would end the wait for a lock at once.
      await store.write(finish, error === undefined ? undefined : this.deadline.signal);
      return undefined;
    } catch (failure) {
      store.writeWithNext(finish);
      return toRunError(failure);
    }
  }

  private requestColumns(error?: RunError) {
    const { attempts, httpStatus, bodyBytes } = this.stats;
    return {
      attempts,
      http_status: error?.httpStatus ?? httpStatus ?? null,
      body_bytes: bodyBytes ?? null,
      not_before: this.notBefore(error),
    };
  }

  private notBefore(error?: RunError): string | null {
    const until = Math.max(error?.notBefore ?? 0, this.deps.pausedUntil());
    return until === 0 ? null : formatTimestamp(until);
  }

  private report(result: Pick<RunReport, 'outcome'> & Partial<RunReport>, error?: RunError): RunReport {
    const { clock, pausedUntil, emit } = this.deps;
    const leftMs = Math.max(error?.notBefore ?? 0, pausedUntil()) - clock.now();
    // Without this, a service that always sends `Retry-After: 1` would cause a catch-up every second.
    const mayPostpone = this.trigger !== 'catch-up' || leftMs >= this.deadline.at - clock.monotonic();
    const report = {
      runId: this.runId,
      kind: this.kind,
      trigger: this.trigger,
      durationMs: clock.monotonic() - this.startedMonotonic,
      attempts: this.stats.attempts,
      httpStatus: error?.httpStatus ?? this.stats.httpStatus,
      counts: NO_COUNTS,
      wrote: false,
      postponed: error !== undefined && leftMs > 0 && mayPostpone,
      ...(error && { error }),
      ...result,
    };
    emit({ type: 'runEnded', report });
    return report;
  }
}
