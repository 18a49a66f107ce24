import type { Config } from '../config/config.ts';
import { type RunError, StoppedError, toRunError } from '../errors.ts';
import type { Drift, DriftLog } from '../league/drift.ts';
import { settledOrAborted } from '../race-abort.ts';
import type { Client, FetchResult, RequestStats } from '../service/client.ts';
import type { Rejection } from '../service/parse-leagues.ts';
import { startDeadline } from '../service/retry.ts';
import type { Store } from '../store/store.ts';
import type { RunEnd, RunKind, RunStamp, Trigger } from '../store/tables/runs.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';
import { NO_COUNTS, type RunEvent, type RunReport } from './report.ts';

export type RunDeps = Pick<Config, 'baseUrl' | 'scope' | 'removalLimit' | 'quietFields' | 'runTimeoutMs'> & {
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

export type ApplyResult = Pick<RunReport, 'counts' | 'heldBecause'> & {
  readonly outcome: 'changed' | 'unchanged' | 'held';
  /** As `runs.unusual_change`. */
  readonly unusualChange?: string | null;
  /** Those of `RunReport.newFindings`. */
  readonly newRejections?: readonly Rejection[];
};

export type Run = ReturnType<typeof createRun>;

/** One run and its row in `runs`. Call `begin`, then `finish`. If they or the work between them fail, call `fail`. */
export function createRun(deps: RunDeps, kind: RunKind, trigger: Trigger, stop: AbortSignal) {
  const { store, drift, clock, pausedUntil } = deps;
  const startedMonotonic = clock.monotonic();
  const deadline = startDeadline(clock, deps.runTimeoutMs, stop);
  const stats: RequestStats = { attempts: 0 };
  /** Null until the row of the run is inserted. */
  let runId: number | null = null;

  const notBefore = (error?: RunError): string | null => {
    const until = Math.max(error?.notBefore ?? 0, pausedUntil());
    return until === 0 ? null : formatTimestamp(until);
  };

  const requestColumns = (error?: RunError) => ({
    attempts: stats.attempts,
    http_status: error?.httpStatus ?? stats.httpStatus ?? null,
    body_bytes: stats.bodyBytes ?? null,
    not_before: notBefore(error),
  });

  const report = (result: Pick<RunReport, 'outcome'> & Partial<RunReport>, error?: RunError): RunReport => {
    const leftMs = Math.max(error?.notBefore ?? 0, pausedUntil()) - clock.now();
    // Without this, a service that always sends `Retry-After: 1` would cause a catch-up every second.
    const mayPostpone = trigger !== 'catch-up' || leftMs >= deadline.at - clock.monotonic();
    const ended = {
      runId,
      kind,
      trigger,
      durationMs: clock.monotonic() - startedMonotonic,
      attempts: stats.attempts,
      httpStatus: error?.httpStatus ?? stats.httpStatus,
      counts: NO_COUNTS,
      wrote: false,
      postponed: error !== undefined && leftMs > 0 && mayPostpone,
      ...(error && { error }),
      ...result,
    };
    deps.emit({ type: 'runEnded', report: ended });
    return ended;
  };

  /** If the row cannot be written now, resolves to the error; it is written as soon as possible. */
  const recordFailure = async (id: number, error: RunError | undefined): Promise<RunError | undefined> => {
    const end: RunEnd = {
      finished_at: store.nextTimestamp(clock.now()),
      outcome: error === undefined ? 'interrupted' : 'failed',
      ...requestColumns(error),
      error_kind: error?.kind ?? null,
      error_message: error?.message ?? new StoppedError().message,
      service_message: error?.serviceMessage ?? null,
    };
    // During a stop, the deadline's signal is already aborted and would end the wait for a lock at once.
    const signal = error === undefined ? undefined : deadline.signal;
    const finish = (): void => store.runs.finish(id, end);
    try {
      await store.write(finish, signal);
      return undefined;
    } catch (failure) {
      store.writeEndWhenPossible(finish);
      return toRunError(failure);
    }
  };

  return {
    deadline,
    stats,
    get runId() {
      return runId;
    },
    begin: async (): Promise<void> => {
      deps.emit({ type: 'runStarted', kind });
      const row = {
        kind,
        trigger,
        scope: kind === 'leagues' ? deps.scope : null,
        started_at: formatTimestamp(clock.now()),
        fingerprint: deps.fingerprint,
        program_version: deps.programVersion,
        quiet_fields: kind === 'leagues' ? deps.quietFields.join() : null,
        not_before: notBefore(),
      };
      // An earlier run must have its end first: the failures in a row are counted then.
      await store.flush(deadline.signal);
      runId = await store.write(() => store.runs.start(row), deadline.signal);
    },
    beforeDeadline: <T>(work: Promise<T>): Promise<T> => settledOrAborted(work, deadline.signal),
    /** In one transaction, calls `apply`, stores new drift and completes the row. */
    finish: async (meta: Partial<FetchResult>, apply: (stamp: RunStamp) => ApplyResult): Promise<RunReport> => {
      const id = runId;
      if (id === null) throw new Error('the run was not begun');
      // Calculated outside of the transaction, since the next times of a rare schedule take long to find.
      const stale_at = kind === 'leagues' ? deps.staleAt(clock.now()) : null;
      let departures: readonly Drift[] = [];
      const result = await store.write(() => {
        const at = store.nextTimestamp(clock.now());
        const stamp = { runId: id, at };
        const before = store.rowsWritten();
        const { newRejections: rejections = [], unusualChange = null, ...applied } = apply(stamp);
        departures = drift.list();
        const newFindings = { drift: store.drift.add(departures, stamp), rejections };
        const wrote = store.rowsWritten() > before;
        store.runs.finish(id, {
          finished_at: at,
          outcome: applied.outcome,
          ...applied.counts,
          ...requestColumns(),
          service_message: meta.message ?? null,
          service_timestamp: meta.timestamp ?? null,
          etag: meta.etag ?? null,
          last_modified: meta.lastModified ?? null,
          stale_at,
          unusual_change: unusualChange,
        });
        return { ...applied, newFindings, wrote, finishedAt: at, ...(stale_at && { staleAt: stale_at }) };
      }, deadline.signal);
      drift.remove(departures);
      return report(result);
    },
    /** Records a failure or an interruption; never rejects. The report of a recorded interruption has no error. */
    fail: async (error: unknown): Promise<RunReport> => {
      const stopped = stop.aborted && error === stop.reason;
      const failure = stopped ? undefined : toRunError(error);
      const unrecorded = runId === null ? undefined : await recordFailure(runId, failure);
      return report({ outcome: stopped ? 'interrupted' : 'failed' }, failure ?? unrecorded);
    },
    [Symbol.dispose]: () => deadline[Symbol.dispose](),
  };
}
