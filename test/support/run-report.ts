import type { WorkerEvent } from '../../src/events.ts';
import { NO_COUNTS, type RunReport } from '../../src/sync/report.ts';

/** The report of an unchanged poll, or of a failed one if `error` is given; the rest as given. */
export function makeReport(more: Partial<RunReport> = {}): RunReport {
  return {
    runId: 7,
    kind: 'leagues',
    trigger: 'schedule',
    outcome: more.error === undefined ? 'unchanged' : 'failed',
    durationMs: 20,
    attempts: 1,
    httpStatus: 200,
    counts: NO_COUNTS,
    wrote: false,
    postponed: false,
    ...more,
  };
}

/** The event of a run's end. */
export function ended(report: RunReport): WorkerEvent {
  return { type: 'runEnded', report };
}
