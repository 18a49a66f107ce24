import { basename } from 'node:path';
import type { Clock } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import type { Log } from '../log.ts';
import type { CloseResult } from '../store/store.ts';
import type { Listener } from '../sync/events.ts';
import { describeReport, fieldsOf, type RunReport } from '../sync/report.ts';
import { createLoginLog } from './login-log.ts';
import { logNews } from './news-log.ts';
import { createStreak, fingerprintOf } from './streak.ts';

/** Logs what happens in a worker. */
export function createWorkerLog(log: Log, clock: Clock, scrub: (text: string) => string): Listener {
  const logins = createLoginLog(log, clock);
  const runs = createRunLog(log, clock);
  return (event) => {
    if (event.type === 'login') logins(event.login);
    else if (event.type === 'firstLoad') logFirstLoad(log, event.received);
    else if (event.type === 'runEnded') {
      runs(event.report);
      logNews(log, event.report, scrub);
    }
  };
}

/**
 * One line for each run. A failure is logged in full when it is new, and then at widening intervals with how many there
 * have been; the lines of the polls between are short. The first good poll says what it ended. Removals that stay held
 * are logged alike.
 */
export function createRunLog(log: Log, clock: Clock): (report: RunReport) => void {
  const failing = { leagues: createStreak(clock, 'failed poll'), profile: createStreak(clock, 'failed poll') };
  const holding = createStreak(clock, 'poll');
  const lastMessage = new Map<RunReport['kind'], string | undefined>();

  const logFailure = (report: RunReport, error: NonNullable<RunReport['error']>): void => {
    const { kind, durationMs } = report;
    const streak = failing[kind];
    const loudness = streak.add(fingerprintOf(error));
    const line = { ...fieldsOf(report), failures: streak.count(), error_kind: error.kind };
    if (loudness === 'known') {
      const how = lastMessage.get(kind) === error.message ? 'failed as before' : `failed: ${error.message}`;
      log.info(line, `${kind}: ${how} (${formatDuration(durationMs)}); ${streak.describe()}`);
    } else {
      const again = loudness === 'new' ? '' : ` again; ${streak.describe()}`;
      log.warn({ ...line, err: error }, `${kind}: failed${again}. ${error.message}`);
    }
  };
  const logSuccess = (report: RunReport): void => {
    const { kind, outcome, counts, heldBecause } = report;
    const ended = failing[kind].end();
    const text = describeReport(report) + (ended === undefined ? '' : `; recovered after ${ended}`);
    const isNewHold = outcome === 'held' && holding.add(`${counts.held} ${heldBecause}`) !== 'known';
    if (kind === 'leagues' && outcome !== 'held') holding.end();
    if (isNewHold) log.warn(fieldsOf(report), `${text}; league-sync accept-removals shows them`);
    else log.info(fieldsOf(report), text);
  };
  return (report) => {
    const { kind, outcome, error } = report;
    if (error !== undefined && outcome === 'failed') logFailure(report, error);
    else if (error !== undefined)
      log.warn({ ...fieldsOf(report), err: error }, `${kind}: ${outcome}. ${error.message}`);
    else if (outcome === 'interrupted') log.info(fieldsOf(report), describeReport(report));
    else logSuccess(report);
    lastMessage.set(kind, error?.message);
  };
}

/** The worker is silent for a while; the line of the run says when that is over. */
function logFirstLoad(log: Log, received: number): void {
  log.info(
    { kind: 'leagues', received },
    `leagues: first load of ${received} leagues; this may take some seconds, and probes wait meanwhile`,
  );
}

/** Runs that an earlier worker left without an end: it was killed, crashed, or lost its power. */
export function logInterrupted(log: Log, runs: number): void {
  if (runs === 0) return;
  log.warn({ runs }, `marked ${runs} unfinished run${runs === 1 ? '' : 's'} of an earlier worker as interrupted`);
}

/** The last line of a worker: what you may rely on after you stopped it. */
export function logClosed(log: Log, result: CloseResult | undefined): void {
  const isWhole = result === undefined || (result.files !== 'not-ours' && !result.isIncomplete);
  log[isWhole ? 'info' : 'warn'](describeClosed(result));
}

function describeClosed(result: CloseResult | undefined): string {
  if (result === undefined) return 'stopped before the database was open';
  const { path, files, isIncomplete } = result;
  if (files === 'not-ours')
    return `stopped; ${path} was deleted or replaced while the worker ran, and was left as it is`;
  const wal = `${basename(path)}-wal is left beside it`;
  // What kept the end of the run from being written, such as a full disk, keeps the WAL as well.
  if (isIncomplete)
    return `stopped; the leagues are saved in ${path}, but the end of the last run could not be written${files === 'one-file' ? '' : `; ${wal}`}`;
  return `stopped; all data saved in ${path}${files === 'one-file' ? '' : `; another program has it open, so ${wal}`}`;
}
