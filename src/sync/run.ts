import { type Clock, formatInstant } from '../clock.ts';
import type { Scope } from '../config/config.ts';
import type { Drift, DriftLog } from '../drift.ts';
import { type RunError, StoppedError, toRunError } from '../errors.ts';
import { settledOrAborted } from '../race-abort.ts';
import type { Client, Fetched, Trace } from '../service/client.ts';
import type { Rejection } from '../service/leagues.ts';
import { type Deadline, startDeadline } from '../service/retry.ts';
import type { Store } from '../store/store.ts';
import type { RunEnd, RunKind, Sighting, Trigger } from '../store/tables/runs.ts';
import type { Listener } from './events.ts';
import { NO_COUNTS, type RunCounts, type RunReport } from './report.ts';

/** What every run needs. */
export type RunTools = {
  readonly store: Store;
  readonly client: Client;
  readonly drift: DriftLog;
  readonly clock: Clock;
  readonly scope: Scope;
  readonly removalLimit: number;
  readonly runTimeoutMs: number;
  /** The instant (ms) until which the service asked to be left alone; 0 if it did not. */
  readonly pausedUntil: () => number;
  /** Which service and account the runs are of; never a secret. */
  readonly fingerprint: string;
  readonly programVersion: string;
  /** Takes secrets out of the service's words. */
  readonly scrub: (text: string) => string;
  readonly emit: Listener;
};

/** What a run changed. */
export type Applied = {
  readonly outcome: 'changed' | 'unchanged' | 'held';
  readonly counts: RunCounts;
  /** Why removals are held, if any are. */
  readonly heldBecause?: string | undefined;
  /** Elements that could not be stored, and that no run before has found. */
  readonly newRejections?: readonly Rejection[];
};

/** What the service said beside the data; the run's row keeps it. */
export type ResponseMeta = Partial<Pick<Fetched, 'message' | 'timestamp' | 'etag' | 'lastModified'>>;

/**
 * One run, from its start to its recorded outcome. Its row is written by `begin` and ended by `finish` or `fail`, one of
 * which must be called. Disposing ends its time limit.
 */
export class Run implements Disposable {
  /** When the run's time is over, and what ends it early. */
  readonly deadline: Deadline & Disposable;
  readonly trace: Trace = { attempts: 0 };
  private readonly tools: RunTools;
  private readonly kind: RunKind;
  private readonly trigger: Trigger;
  /** Aborts when the worker is to end. */
  private readonly stop: AbortSignal;
  private readonly startedAt: number;
  private readonly startedMonotonic: number;
  /** Of its row; undefined until `begin` has written it. */
  private id: number | undefined;

  constructor(tools: RunTools, kind: RunKind, trigger: Trigger, stop: AbortSignal) {
    this.tools = tools;
    this.kind = kind;
    this.trigger = trigger;
    this.stop = stop;
    this.startedAt = tools.clock.now();
    this.startedMonotonic = tools.clock.monotonic();
    this.deadline = startDeadline(tools, tools.runTimeoutMs, stop);
  }

  [Symbol.dispose](): void {
    this.deadline[Symbol.dispose]();
  }

  /** Writes the run's row, as `running`. */
  async begin(): Promise<void> {
    this.tools.emit({ type: 'runStarted', kind: this.kind });
    const { store, scope, fingerprint, programVersion, pausedUntil } = this.tools;
    const row = {
      kind: this.kind,
      trigger: this.trigger,
      scope: this.kind === 'leagues' ? scope : null,
      started_at: formatInstant(this.startedAt),
      fingerprint,
      program_version: programVersion,
      not_before: instantOf(pausedUntil()),
    };
    this.id = await store.write(() => store.runs.start(row), this.deadline.signal);
  }

  /** Waits for `work`, but not longer than the run may take. */
  inTime<T>(work: Promise<T>): Promise<T> {
    return settledOrAborted(work, this.deadline.signal);
  }

  /** In one transaction: what `apply` writes, the departures from the interface, and the end of the run's row. */
  async finish(meta: ResponseMeta, apply: (seen: Sighting) => Applied): Promise<RunReport> {
    const { store, drift, clock, pausedUntil } = this.tools;
    const runId = this.requireId();
    let departures: readonly Drift[] = [];
    const applied = await store.write(() => {
      const at = store.nextInstant(clock.now());
      const before = store.rowsWritten();
      const result = apply({ runId, at });
      departures = drift.list();
      const newDrift = store.drift.note(departures, { runId, at });
      const wrote = store.rowsWritten() > before;
      store.runs.finish(runId, {
        finished_at: at,
        outcome: result.outcome,
        ...result.counts,
        ...this.traceColumns(),
        service_message: meta.message ?? null,
        service_timestamp: meta.timestamp ?? null,
        etag: meta.etag ?? null,
        last_modified: meta.lastModified ?? null,
        not_before: instantOf(pausedUntil()),
      });
      const news = { drift: newDrift, rejections: result.newRejections ?? [] };
      return { ...result, wrote, finishedAt: at, news };
    }, this.deadline.signal);
    drift.forget(departures);
    const { outcome, counts, heldBecause, wrote, finishedAt, news } = applied;
    return this.end({ ...this.report(outcome, counts), heldBecause, wrote, finishedAt, news });
  }

  /** Records why the run ended without a result. Never rejects: the report says if even that could not be written. */
  async fail(error: unknown): Promise<RunReport> {
    const stopped = this.stop.aborted && error === this.stop.reason;
    const failure = stopped ? undefined : toRunError(error);
    const outcome = stopped ? 'interrupted' : 'failed';
    // A run whose row could not be written is in the log alone.
    const unrecorded = this.id === undefined ? undefined : await this.recordEnd(this.id, outcome, failure);
    return this.end(this.report(outcome, NO_COUNTS, failure ?? unrecorded));
  }

  private end(report: RunReport): RunReport {
    this.tools.emit({ type: 'runEnded', report });
    return report;
  }

  private requireId(): number {
    if (this.id === undefined) throw new Error('the run was not begun');
    return this.id;
  }

  /** If the end of the row cannot be written now, the next transaction that succeeds writes it. */
  private async recordEnd(
    runId: number,
    outcome: 'failed' | 'interrupted',
    error: RunError | undefined,
  ): Promise<RunError | undefined> {
    const { store } = this.tools;
    const end = this.failedEnd(outcome, error);
    const finish = (): void => store.runs.finish(runId, end);
    try {
      // A wait for another program ends with the run's own time, unless the worker is stopping.
      await store.write(finish, outcome === 'interrupted' ? undefined : this.deadline.signal);
      return undefined;
    } catch (failure) {
      store.writeWithNext(finish);
      return toRunError(failure);
    }
  }

  private failedEnd(outcome: 'failed' | 'interrupted', error: RunError | undefined): RunEnd {
    const { store, clock, pausedUntil } = this.tools;
    return {
      finished_at: store.nextInstant(clock.now()),
      outcome,
      ...this.traceColumns(),
      ...(error?.httpStatus === undefined ? {} : { http_status: error.httpStatus }),
      error_kind: error?.kind ?? null,
      error_message: error?.message ?? new StoppedError().message,
      service_message: error?.serviceMessage ?? null,
      not_before: instantOf(Math.max(error?.notBefore ?? 0, pausedUntil())),
    };
  }

  private traceColumns() {
    const { attempts, httpStatus, bodyBytes } = this.trace;
    return { attempts, http_status: httpStatus ?? null, body_bytes: bodyBytes ?? null };
  }

  private report(outcome: RunReport['outcome'], counts: RunCounts, error?: RunError): RunReport {
    return {
      runId: this.id ?? null,
      kind: this.kind,
      trigger: this.trigger,
      outcome,
      durationMs: this.tools.clock.monotonic() - this.startedMonotonic,
      attempts: this.trace.attempts,
      httpStatus: error?.httpStatus ?? this.trace.httpStatus,
      counts,
      wrote: false,
      putOff: error !== undefined && this.isPutOff(Math.max(error.notBefore ?? 0, this.tools.pausedUntil())),
      ...(error === undefined ? {} : { error }),
    };
  }

  /**
   * A run that a Retry-After failed is made up for when that is over. If it was such a catch-up itself, then only if the
   * Retry-After reaches past its time limit: a service that asks for a second each time is not called every second.
   */
  private isPutOff(pausedUntil: number): boolean {
    const { clock } = this.tools;
    const leftMs = pausedUntil - clock.now();
    return leftMs > 0 && (this.trigger !== 'catch-up' || leftMs >= this.deadline.at - clock.monotonic());
  }
}

/** Null if there is no Retry-After. */
function instantOf(pausedUntil: number): string | null {
  return pausedUntil === 0 ? null : formatInstant(pausedUntil);
}
