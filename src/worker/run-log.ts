import type { Clock } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import type { RunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { createStreak, type Streak, sortOf } from '../streak.ts';
import { describeReport, fieldsOf, type RunReport } from '../sync/report.ts';

/** Leaves the one line that each run has in the log of the worker. */
export type RunLog = (report: RunReport) => void;

/**
 * A failure is told with everything when it is new, and then at widening intervals with how many there have been; the
 * lines of the polls between are short. The first good poll says what it ended. Removals that stay held are told alike.
 */
export function createRunLog(log: Log, clock: Clock): RunLog {
  const failing = { leagues: createStreak(clock, 'failed poll'), profile: createStreak(clock, 'failed poll') };
  const holding = createStreak(clock, 'poll');
  const lastSort = new Map<RunReport['kind'], string | undefined>();
  return (report) => {
    const { kind, outcome, error } = report;
    const sort = error === undefined ? undefined : sortOf(error);
    const isSame = sort !== undefined && sort === lastSort.get(kind);
    lastSort.set(kind, sort);
    if (error !== undefined && outcome === 'failed') logFailure(log, { report, error, streak: failing[kind], isSame });
    else if (error !== undefined)
      log.warn({ ...fieldsOf(report), err: error }, `${kind}: ${outcome}. ${error.message}`);
    else if (outcome === 'interrupted') log.info(fieldsOf(report), describeReport(report));
    else logSuccess(log, report, { failing: failing[kind], holding });
  };
}

type Failure = {
  readonly report: RunReport;
  readonly error: RunError;
  readonly streak: Streak;
  /** Whether the run of this kind before failed in the same way. */
  readonly isSame: boolean;
};

function logFailure(log: Log, { report, error, streak, isSame }: Failure): void {
  const { kind, durationMs } = report;
  const loudness = streak.add(sortOf(error));
  const line = { ...fieldsOf(report), failures: streak.count(), error_kind: error.kind };
  if (loudness === 'known') {
    const how = isSame ? 'failed as before' : `failed: ${error.message}`;
    log.info(line, `${kind}: ${how} (${formatDuration(durationMs)}); ${streak.describe()}`);
    return;
  }
  const again = loudness === 'new' ? '' : ` again; ${streak.describe()}`;
  log.warn({ ...line, err: error }, `${kind}: failed${again}. ${error.message}`);
}

function logSuccess(log: Log, report: RunReport, { failing, holding }: Record<'failing' | 'holding', Streak>): void {
  const ended = failing.end();
  const recovery = ended === undefined ? '' : `; recovered after ${ended}`;
  const text = describeReport(report) + recovery;
  const { outcome, counts, heldBecause, kind } = report;
  if (outcome === 'held') {
    const isKnown = holding.add(`held ${counts.held} ${heldBecause}`) === 'known';
    if (isKnown) log.info(fieldsOf(report), text);
    else log.warn(fieldsOf(report), `${text}; league-sync accept-removals shows them`);
    return;
  }
  if (kind === 'leagues') holding.end();
  log.info(fieldsOf(report), text);
}
