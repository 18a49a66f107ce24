import { type Clock, formatInstant } from '../clock.ts';
import type { Scope } from '../config/config.ts';
import type { Drift, DriftLog } from '../drift.ts';
import { type RunError, StoppedError, toRunError } from '../errors.ts';
import { settledOrAborted } from '../race-abort.ts';
import type { Client, Fetched, Trace } from '../service/client.ts';
import type { Rejection } from '../service/rejection.ts';
import { type Deadline, startDeadline } from '../service/retry.ts';
import type { Store } from '../store/store.ts';
import type { RunEnd, RunKind, RunStart, Sighting, Trigger } from '../store/tables/runs.ts';
import { newsOf } from './news.ts';
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
  /** The instant (ms) until which the service asked to be left alone; 0 where it did not. */
  readonly pausedUntil: () => number;
  /** Which service and account the runs are of; never a secret. */
  readonly fingerprint: string;
  readonly programVersion: string;
  /** Takes secrets out of words of the service that are told. */
  readonly scrub: (text: string) => string;
  /** Told, before it begins, of a first load of so many leagues that it takes a while. */
  readonly onFirstLoad?: ((received: number) => void) | undefined;
};

/** What a run came to. */
export type Applied = {
  readonly outcome: 'changed' | 'unchanged' | 'held';
  readonly counts: RunCounts;
  /** Why removals are held, where they are. */
  readonly heldBecause?: string | undefined;
  /** Elements that could not be stored, and that no run before has found. */
  readonly newRejections?: readonly Rejection[];
};

/** What a run does with an answer, inside the transaction that also ends its row. */
type Apply = (seen: Sighting) => Applied;

/** Fetches an answer and reads it; what it gives back is then applied in one transaction. */
export type Work = (deadline: Deadline, trace: Trace) => Promise<Answered>;

/** An answer, and how it is applied. */
type Answered = { readonly fetched: AnswerNotes; readonly apply: Apply };

/** What a service says beside what was asked for; its row keeps it. */
export type AnswerNotes = Partial<Omit<Fetched, 'body' | 'elements'>>;

/**
 * One run from start to recorded outcome: its row is written when it starts, and ended in the same transaction as what
 * it applies. Never rejects: whatever happens, the report says it.
 */
export async function executeRun(
  tools: RunTools,
  kind: RunKind,
  trigger: Trigger,
  stop: AbortSignal,
  work: Work,
): Promise<RunReport> {
  const { store, clock } = tools;
  const started = { wall: clock.now(), monotonic: clock.monotonic() };
  const trace: Trace = { attempts: 0 };
  let id: number | undefined;
  using deadline = startDeadline(tools, tools.runTimeoutMs, stop);
  /**
   * A poll follows the end of a pause. One that follows already is itself followed only where the pause reaches past the
   * time that it had: a service that asks for a second each time is not asked every second.
   */
  const isPutOff = (pausedUntil: number): boolean => {
    const leftMs = pausedUntil - clock.now();
    return leftMs > 0 && (trigger !== 'catch-up' || leftMs >= deadline.at - clock.monotonic());
  };
  const report = (outcome: RunReport['outcome'], counts: RunCounts, error?: RunError): RunReport => ({
    runId: id ?? null,
    kind,
    trigger,
    outcome,
    durationMs: clock.monotonic() - started.monotonic,
    attempts: trace.attempts,
    httpStatus: error?.httpStatus ?? trace.httpStatus,
    counts,
    wrote: false,
    putOff: error !== undefined && isPutOff(Math.max(error.notBefore ?? 0, tools.pausedUntil())),
    ...(error === undefined ? {} : { error }),
  });
  const start = startOf(tools, kind, trigger, started.wall);
  try {
    const runId = await store.write(() => store.runs.start(start), deadline.signal);
    id = runId;
    const { fetched, apply } = await settledOrAborted(work(deadline, trace), deadline.signal);
    const applied = await applyAll(tools, runId, fetched, trace, apply, deadline.signal);
    const { outcome, counts, heldBecause, wrote, finishedAt, news } = applied;
    return { ...report(outcome, counts), heldBecause, wrote, finishedAt, news };
  } catch (error) {
    const stopped = stop.aborted && error === stop.reason;
    const failure = stopped ? undefined : toRunError(error);
    const outcome = stopped ? 'interrupted' : 'failed';
    // One that was stopped before it could begin has not been.
    const isNothing = stopped && id === undefined;
    const unrecorded = isNothing
      ? undefined
      : await recordEnd(
          tools,
          id ?? start,
          endOf(tools, outcome, failure, trace),
          stopped ? undefined : deadline.signal,
        );
    return report(outcome, NO_COUNTS, failure ?? unrecorded);
  }
}

function startOf(tools: RunTools, kind: RunKind, trigger: Trigger, now: number): RunStart {
  return {
    kind,
    trigger,
    scope: kind === 'leagues' ? tools.scope : null,
    started_at: formatInstant(now),
    fingerprint: tools.fingerprint,
    program_version: tools.programVersion,
    not_before: instantOf(tools.pausedUntil()),
  };
}

/** In one transaction: the change itself, the departures from the interface, and the end of the run's row. */
async function applyAll(
  { store, drift, clock, pausedUntil, scrub }: RunTools,
  runId: number,
  fetched: AnswerNotes,
  trace: Trace,
  apply: Apply,
  signal: AbortSignal,
): Promise<Applied & Required<Pick<RunReport, 'wrote' | 'finishedAt' | 'news'>>> {
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
      ...traceColumns(trace),
      service_message: fetched.message ?? null,
      service_timestamp: fetched.timestamp ?? null,
      etag: fetched.etag ?? null,
      last_modified: fetched.lastModified ?? null,
      not_before: instantOf(pausedUntil()),
    });
    const news = newsOf({ drift: newDrift, rejections: result.newRejections ?? [] }, scrub);
    return { ...result, wrote, finishedAt: at, news };
  }, signal);
  drift.forget(departures);
  return applied;
}

/**
 * Ends the row of a run that applied nothing. If that cannot be written it is put off, and so is the whole row of a run
 * whose start could not be; gives the error of the former. A wait for another program ends with the run's own time.
 */
async function recordEnd(
  { store }: RunTools,
  run: number | RunStart,
  end: RunEnd,
  signal: AbortSignal | undefined,
): Promise<RunError | undefined> {
  if (typeof run !== 'number') {
    store.defer(() => store.runs.finish(store.runs.start(run), end));
    return undefined;
  }
  const finish = (): void => store.runs.finish(run, end);
  try {
    await store.write(finish, signal);
    return undefined;
  } catch (failure) {
    store.defer(finish);
    return toRunError(failure);
  }
}

/** How a run ends that applied nothing. */
function endOf(
  { store, clock, pausedUntil }: RunTools,
  outcome: 'failed' | 'interrupted',
  error: RunError | undefined,
  trace: Trace,
): RunEnd {
  const notBefore = Math.max(error?.notBefore ?? 0, pausedUntil());
  return {
    finished_at: store.nextInstant(clock.now()),
    outcome,
    ...traceColumns(trace),
    ...(error?.httpStatus === undefined ? {} : { http_status: error.httpStatus }),
    error_kind: error?.kind ?? null,
    error_message: error?.message ?? new StoppedError().message,
    service_message: error?.serviceMessage ?? null,
    not_before: instantOf(notBefore),
  };
}

/** Null where there is no pause. */
function instantOf(pausedUntil: number): string | null {
  return pausedUntil === 0 ? null : formatInstant(pausedUntil);
}

function traceColumns(trace: Trace) {
  return { attempts: trace.attempts, http_status: trace.httpStatus ?? null, body_bytes: trace.bodyBytes ?? null };
}
