import { basename } from 'node:path';
import type { RunError } from '../errors.ts';
import type { Listener } from '../events.ts';
import { createStreak } from '../failure-streak.ts';
import type { Log } from '../log.ts';
import type { LoginReason, LoginRecord } from '../service/login.ts';
import type { CloseResult } from '../store/store.ts';
import { describeReport, fieldsOf, type RunReport } from '../sync/report.ts';
import { type Clock, formatSecond, formatTimestamp } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';
import { logNewFindings } from './drift-log.ts';

export function createWorkerLog(log: Log, clock: Clock, scrub: (text: string) => string): Listener {
  const logLogin = createLoginLog(log, clock);
  const logRun = createRunLog(log, clock);
  return (event) => {
    if (event.type === 'login') logLogin(event.login);
    else if (event.type === 'runEnded') {
      logRun(event.report);
      logNewFindings(log, event.report, scrub);
    }
  };
}

/** A line per run. In a streak, the first failure of each sort is a warning; its end is told. New holds are a warning. */
export function createRunLog(log: Log, clock: Clock): (report: RunReport) => void {
  const streaks = { leagues: createStreak(clock, 'failed poll'), profile: createStreak(clock, 'failed poll') };
  let lastHold: string | undefined;

  const logFailure = (report: RunReport, error: RunError): void => {
    const { kind, durationMs } = report;
    const streak = streaks[kind];
    const { isNew, isRepeated } = streak.add(error);
    const line = { ...fieldsOf(report), failures: streak.count(), error_kind: error.kind };
    if (isNew) log.warn({ ...line, err: error }, `${kind}: failed. ${error.message}`);
    else {
      const how = isRepeated ? 'failed as before' : `failed: ${error.message}`;
      log.info(line, `${kind}: ${how} (${formatDuration(durationMs)}); ${streak.describe()}`);
    }
  };
  const logSuccess = (report: RunReport): void => {
    const { kind, outcome, counts, heldBecause } = report;
    const text = describeReport(report) + streaks[kind].end();
    const hold = outcome === 'held' ? `${counts.held} ${heldBecause}` : undefined;
    if (hold !== undefined && hold !== lastHold)
      log.warn(fieldsOf(report), `${text}; league-sync accept-removals shows them`);
    else log.info(fieldsOf(report), text);
    if (kind === 'leagues') lastHold = hold;
  };
  return (report) => {
    const { kind, outcome, error } = report;
    if (error !== undefined && outcome === 'failed') logFailure(report, error);
    else if (error !== undefined)
      log.warn({ ...fieldsOf(report), err: error }, `${kind}: ${outcome}. ${error.message}`);
    else if (outcome === 'interrupted') log.info(fieldsOf(report), describeReport(report));
    else logSuccess(report);
  };
}

/** Logs successful logins. Warns of the first failure of each sort in a streak; other failures are at level debug. */
export function createLoginLog(log: Log, clock: Clock): (login: LoginRecord) => void {
  const streak = createStreak(clock, 'failed login');
  let hasFailed = false;
  return (login) => {
    const { reason, outcome, error, errorMessage = '' } = login;
    // A single retryable failure causes no warning, since the retry usually succeeds.
    const mayPass = error === undefined || (error.retryable && !hasFailed);
    hasFailed = outcome !== 'ok';
    if (outcome === 'ok') return logSuccessfulLogin(log, login, streak.end());
    const isNew = error !== undefined && streak.add(error, !mayPass).isNew;
    const level = isNew && !mayPass ? 'warn' : 'debug';
    const line = { reason, outcome, failures: streak.count(), err: error };
    log[level](line, `login ${outcome} (${reason}): ${errorMessage}`);
  };
}

const LARGE_SKEW_MS = 60_000;

const LOGGED_IN: Readonly<Record<LoginReason, string>> = {
  start: 'logged in (start)',
  manual: 'logged in (manual)',
  due: 'token renewed',
  'rejected-token': 'logged in again (token rejected)',
};

function logSuccessfulLogin(log: Log, login: LoginRecord, recovery: string): void {
  const { reason, outcome, expiresAt, clockSkewMs = 0, expiredOnArrival } = login;
  const said = LOGGED_IN[reason];
  const expires_at = expiresAt === undefined ? null : formatTimestamp(expiresAt);
  const line = { reason, outcome, expires_at, clock_skew_ms: login.clockSkewMs };
  if (expiresAt === undefined) {
    log.warn(line, `${said}, but the service sent no readable expire_datetime; renewed every 30 minutes${recovery}`);
    return;
  }
  const at = formatSecond(expiresAt);
  const expires = `${reason === 'due' ? 'expires' : 'token expires'} ${at}`;
  if (expiredOnArrival)
    log.warn(line, `${said}, but the token has expired already (${at}); it is used until it is rejected${recovery}`);
  else if (Math.abs(clockSkewMs) > LARGE_SKEW_MS) {
    const skew = `${formatDuration(Math.abs(clockSkewMs))} ${clockSkewMs > 0 ? 'ahead of' : 'behind'} this machine's`;
    log.warn(line, `${said}; ${expires}; the service's clock is ${skew}; tokens expire by that clock${recovery}`);
  } else log.info(line, `${said}; ${expires}${recovery}`);
}

export function logClosed(log: Log, result: CloseResult | undefined) {
  if (result === undefined) return log.info('stopped before the database was open');
  const { path, files, place, unsaved } = result;
  if (files === 'saved' || files === 'set-aside') {
    const what = files === 'saved' ? 'all that it held is in' : 'what was not written to it yet is in';
    const where = place === undefined ? 'what it held could not be saved' : `${what} ${place}`;
    return log.warn(
      `stopped; ${path} was deleted, moved, replaced or overwritten while the worker ran, and is left as it is; ${where}`,
    );
  }
  const wal = files === 'one-file' ? '' : `${basename(path)}-wal is left beside it`;
  if (unsaved !== '')
    log.warn(`stopped; the leagues are saved in ${path}, but ${unsaved} could not be written${wal && `; ${wal}`}`);
  else {
    const why =
      files === 'wal-kept' ? 'LEAGUE_SYNC_KEEP_WAL is set' : 'another program has it open, or the disk is full';
    log.info(`stopped; all data saved in ${path}${wal && `; ${why}, so ${wal}`}`);
  }
}
