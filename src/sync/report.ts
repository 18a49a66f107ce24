import type { Drift } from '../drift.ts';
import { formatDuration } from '../duration.ts';
import type { RunError } from '../errors.ts';
import type { Rejection } from '../service/leagues.ts';
import type { RunKind, Trigger } from '../store/tables/runs.ts';

/** What a run did; the six after `received` add up to it. */
export type RunCounts = Readonly<Record<(typeof COUNTED)[number] | 'received', number>>;

const COUNTED = ['added', 'changed', 'restored', 'removed', 'unchanged', 'rejected', 'duplicates', 'held'] as const;

export const NO_COUNTS: RunCounts = {
  received: 0,
  added: 0,
  changed: 0,
  restored: 0,
  removed: 0,
  unchanged: 0,
  rejected: 0,
  duplicates: 0,
  held: 0,
};

/** How a run ended. */
export type RunReport = {
  /** Its row in `runs`; null if none could be written. */
  readonly runId: number | null;
  readonly kind: RunKind;
  readonly trigger: Trigger;
  readonly outcome: 'changed' | 'unchanged' | 'held' | 'failed' | 'interrupted';
  readonly durationMs: number;
  /** The instant that a good run is filed under. */
  readonly finishedAt?: string;
  /** Requests for the leagues or the profile. */
  readonly attempts: number;
  /** Of the last request, where it was answered. */
  readonly httpStatus: number | undefined;
  readonly counts: RunCounts;
  /** Whether it changed anything in the database but its own row. */
  readonly wrote: boolean;
  /** Why removals are held, where they are. */
  readonly heldBecause?: string | undefined;
  /** What no run before it had found: rows of `drift` and `rejected_leagues` that it added or reopened. */
  readonly news?: { readonly drift: readonly Drift[]; readonly rejections: readonly Rejection[] };
  /** Why it failed, or why even its end could not be recorded. */
  readonly error?: RunError;
  /** The service asked for a pause that reaches past the run: a run is to follow as soon as it ends. */
  readonly putOff: boolean;
};

/** The fields of a run's line in the log, under the names that the columns of `runs` have. */
export function fieldsOf({ runId, kind, trigger, outcome, attempts, counts, durationMs }: RunReport) {
  return { run_id: runId, kind, trigger, outcome, attempts, ...counts, duration_ms: Math.round(durationMs) };
}

/** A run in one line of words. What is unchanged is the rest, and is left out: the line is to fit a terminal. */
export function describeReport({ kind, outcome, counts, durationMs, heldBecause, httpStatus }: RunReport): string {
  const applied = outcome !== 'interrupted' && outcome !== 'failed';
  const what = kind === 'leagues' && applied ? `: ${describeCounts({ ...counts, unchanged: 0 }, httpStatus)}` : '';
  const why = heldBecause === undefined ? '' : `; held because ${heldBecause}`;
  return `${kind}: ${outcome}${what} (${formatDuration(durationMs)})${why}`;
}

/** What a poll received and what became of it, in words. */
export function describeCounts(counts: RunCounts, httpStatus: number | null | undefined): string {
  if (httpStatus === 304) return 'the service says that the list is the same';
  const parts = COUNTED.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${name}`);
  return [`${counts.received} received`, ...parts].join(', ');
}
