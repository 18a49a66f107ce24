import { type Clock, formatInstant } from '../clock.ts';
import type { Scope } from '../config/config.ts';
import type { DriftLog } from '../drift.ts';
import { DatabaseError, type RunError, StoppedError, toRunError } from '../errors.ts';
import type { Client, Fetched, Trace } from '../service/client.ts';
import { type Deadline, startDeadline } from '../service/retry.ts';
import type { RunEnd, RunKind, Trigger } from '../store/runs.ts';
import type { Store } from '../store/store.ts';

/** What every run needs. */
export type RunTools = {
  readonly store: Store;
  readonly client: Client;
  readonly drift: DriftLog;
  readonly clock: Clock;
  readonly scope: Scope;
  readonly removalLimit: number;
  readonly runTimeoutMs: number;
  /** Which service and account the runs are of; never a secret. */
  readonly fingerprint: string;
  readonly programVersion: string;
};

export type RunCounts = Partial<
  Record<
    'received' | 'added' | 'changed' | 'unchanged' | 'restored' | 'rejected' | 'duplicates' | 'removed' | 'held',
    number
  >
>;

/** How a run ended. */
export type RunReport = {
  readonly kind: RunKind;
  readonly trigger: Trigger;
  readonly outcome: 'changed' | 'unchanged' | 'held' | 'failed' | 'interrupted';
  readonly durationMs: number;
  readonly attempts: number;
  readonly counts: RunCounts;
  readonly error?: RunError;
  /** The service asked for a pause that reaches past the run: a run is to follow as soon as it ends. */
  readonly putOff: boolean;
};

/** What a run does with an answer, inside the transaction that also ends its row. */
export type Apply = (run: { readonly id: number; readonly at: string }) => {
  readonly outcome: 'changed' | 'unchanged' | 'held';
  readonly counts: RunCounts;
};

/** Fetches an answer and reads it; what it gives back is then applied in one transaction. */
export type Work = (deadline: Deadline, trace: Trace) => Promise<{ readonly fetched: Fetched; readonly apply: Apply }>;

const BUSY_RETRY_MS = 100;
/** A database that stays locked must not keep a run's own ending waiting for ever. */
const LONGEST_BUSY_WAIT_MS = 60_000;

/**
 * One run from start to recorded outcome: its row is written when it starts, and ended in the same transaction as
 * what it applies. Never throws for what a service, a network or a disk does: the report says it.
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
  const report = (outcome: RunReport['outcome'], counts: RunCounts, error?: RunError): RunReport => ({
    kind,
    trigger,
    outcome,
    durationMs: clock.monotonic() - started.monotonic,
    attempts: trace.attempts,
    counts,
    putOff: (error?.notBefore ?? 0) > started.wall + tools.runTimeoutMs,
    ...(error === undefined ? {} : { error }),
  });
  using deadline = startDeadline(tools, tools.runTimeoutMs, stop);
  let id: number | undefined;
  try {
    id = await whenFree(
      () => store.transaction(() => store.runs.start(startOf(tools, kind, trigger, started.wall))),
      clock,
      deadline.signal,
    );
    const runId = id;
    const { fetched, apply } = await work(deadline, trace);
    const result = await whenFree(
      () => store.transaction(() => applyAll(tools, runId, fetched, trace, apply)),
      clock,
      deadline.signal,
    );
    return report(result.outcome, result.counts);
  } catch (error) {
    const stopped = stop.aborted && error instanceof StoppedError;
    const failure = stopped ? undefined : toRunError(error);
    const outcome = stopped ? 'interrupted' : 'failed';
    const unrecorded = id === undefined ? undefined : await recordEnd(tools, id, outcome, failure, trace);
    return report(outcome, {}, failure ?? unrecorded);
  }
}

function startOf({ scope, fingerprint, programVersion }: RunTools, kind: RunKind, trigger: Trigger, now: number) {
  return {
    kind,
    trigger,
    scope: kind === 'leagues' ? scope : null,
    started_at: formatInstant(now),
    fingerprint,
    program_version: programVersion,
  };
}

/** Inside the transaction: the change itself, the departures from the interface, and the end of the run's row. */
function applyAll({ store, drift, clock }: RunTools, id: number, fetched: Fetched, trace: Trace, apply: Apply) {
  const at = store.nextInstant(clock.now());
  const result = apply({ id, at });
  const departures = drift.list();
  store.oddities.noteDrift(departures, { runId: id, at });
  store.runs.finish(id, {
    finished_at: at,
    outcome: result.outcome,
    ...result.counts,
    ...traceColumns(trace),
    service_message: fetched.message ?? null,
    service_timestamp: fetched.timestamp ?? null,
    etag: fetched.etag ?? null,
    last_modified: fetched.lastModified ?? null,
  });
  drift.forget(departures);
  return result;
}

/** Ends the row of a run that applied nothing. Gives the error where even that could not be written. */
async function recordEnd(
  { store, clock }: RunTools,
  id: number,
  outcome: 'failed' | 'interrupted',
  error: RunError | undefined,
  trace: Trace,
): Promise<RunError | undefined> {
  const end = (): RunEnd => ({
    finished_at: store.nextInstant(clock.now()),
    outcome,
    ...traceColumns(trace),
    ...(error?.httpStatus === undefined ? {} : { http_status: error.httpStatus }),
    error_kind: error?.kind ?? null,
    error_message: error?.message ?? new StoppedError().message,
    service_message: error?.serviceMessage ?? null,
    not_before: error?.notBefore === undefined ? null : formatInstant(error.notBefore),
  });
  try {
    await whenFree(() => store.transaction(() => store.runs.finish(id, end())), clock, undefined);
    return undefined;
  } catch (failure) {
    return toRunError(failure);
  }
}

function traceColumns(trace: Trace) {
  return { attempts: trace.attempts, http_status: trace.httpStatus ?? null, body_bytes: trace.bodyBytes ?? null };
}

/** Does synchronous database work as soon as no other program holds the database, without ever stopping the process. */
export async function whenFree<T>(work: () => T, clock: Clock, signal: AbortSignal | undefined): Promise<T> {
  const giveUpAt = clock.monotonic() + LONGEST_BUSY_WAIT_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof DatabaseError) || !error.busy || clock.monotonic() >= giveUpAt) throw error;
      await clock.sleep(BUSY_RETRY_MS, signal);
    }
  }
}
