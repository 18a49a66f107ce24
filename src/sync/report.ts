import type { RunError } from '../errors.ts';
import type { Drift } from '../league/drift.ts';
import type { ProgressEvent } from '../service/connection.ts';
import type { Rejection } from '../service/parse-leagues.ts';
import type { RunKind, Trigger } from '../store/tables/runs.ts';
import { formatDuration } from '../time/duration.ts';

const COUNTED = ['added', 'changed', 'restored', 'removed', 'unchanged', 'rejected', 'duplicates', 'held'] as const;

export type RunCounts = Readonly<Record<'received' | (typeof COUNTED)[number], number>>;

export const NO_COUNTS = Object.fromEntries(['received', ...COUNTED].map((name) => [name, 0])) as RunCounts;

export type RunReport = {
  /** Null if the row of the run could not be inserted. */
  readonly runId: number | null;
  readonly kind: RunKind;
  readonly trigger: Trigger;
  readonly outcome: 'changed' | 'unchanged' | 'held' | 'failed' | 'interrupted';
  readonly durationMs: number;
  /** The timestamp of the run's writes; undefined if the run did not succeed. */
  readonly finishedAt?: string;
  /** When the leagues become stale; undefined for profiles and if the run did not succeed. */
  readonly staleAt?: string;
  readonly attempts: number;
  readonly httpStatus: number | undefined;
  readonly counts: RunCounts;
  /** Whether the run wrote any row other than its own row in `runs`. */
  readonly wrote: boolean;
  readonly heldBecause?: string | undefined;
  /** New drift, and rejections that the run opened or reopened. Omits leagues that already had an open rejection. */
  readonly newFindings?: { readonly drift: readonly Drift[]; readonly rejections: readonly Rejection[] };
  /** Why the run failed, or why its interruption could not be recorded. */
  readonly error?: RunError;
  /** True if the run failed and a catch-up must follow when the current Retry-After ends. */
  readonly postponed: boolean;
};

/** What a run tells while it goes on. */
export type RunEvent =
  | ProgressEvent
  | { readonly type: 'runStarted'; readonly kind: RunKind }
  | { readonly type: 'runEnded'; readonly report: RunReport };

/** The log fields of a run. Most are named like the columns of `runs`. */
export function fieldsOf({ runId, kind, trigger, outcome, attempts, counts, durationMs }: RunReport) {
  return { run_id: runId, kind, trigger, outcome, attempts, ...counts, duration_ms: Math.round(durationMs) };
}

type RunResult = Pick<RunReport, 'kind' | 'outcome' | 'counts' | 'durationMs' | 'heldBecause' | 'httpStatus'>;

/** Such as `leagues: changed: 124 received, 3 changed (1.2 s)`. Omits the unchanged leagues, to fit a terminal. */
export function describeReport({ kind, outcome, counts, durationMs, heldBecause, httpStatus }: RunResult): string {
  const applied = outcome !== 'interrupted' && outcome !== 'failed';
  const what = kind === 'leagues' && applied ? `: ${describeCounts({ ...counts, unchanged: 0 }, httpStatus)}` : '';
  const why = heldBecause === undefined ? '' : `; held because ${heldBecause}`;
  return `${kind}: ${outcome}${what} (${formatDuration(durationMs)})${why}`;
}

/** Such as `124 received, 1 added, 3 changed`. Omits counts of zero. */
export function describeCounts(counts: RunCounts, httpStatus: number | null | undefined): string {
  if (httpStatus === 304) return 'the service says that the list is the same';
  const parts = COUNTED.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${name}`);
  return [`${counts.received} received`, ...parts].join(', ');
}
