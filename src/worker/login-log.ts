import { type Clock, formatInstant, formatSecond } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import type { Log } from '../log.ts';
import type { LoginReason, LoginRecord } from '../service/login.ts';
import { createStreak, fingerprintOf } from './streak.ts';

/** What the log says of a login: each that succeeded, and failures when they are new and at widening intervals. */
export type LoginLog = (login: LoginRecord) => void;

export function createLoginLog(log: Log, clock: Clock): LoginLog {
  const failing = createStreak(clock, 'failed login');
  let hasFailed = false;
  return (login) => {
    const { reason, outcome, error, errorMessage = '' } = login;
    // What passes is tried again at once, and most often succeeds.
    const mayPass = error === undefined || (error.retryable && !hasFailed);
    hasFailed = outcome !== 'ok';
    if (outcome === 'ok') {
      const ended = failing.end();
      logSuccess(log, login, ended === undefined ? '' : `; recovered after ${ended}`);
      return;
    }
    const loudness = mayPass ? 'known' : failing.add(fingerprintOf(error));
    const line = { reason, outcome, failures: failing.count(), err: error };
    const again = loudness === 'reminder' ? ` again; ${failing.describe()}` : '';
    const level = loudness === 'known' ? 'debug' : 'warn';
    log[level](line, `login ${outcome} (${reason})${again}: ${errorMessage}`);
  };
}

/** Both clocks may be a little off, and the service's counts in whole seconds. */
const NOTABLE_SKEW_MS = 60_000;

function logSuccess(log: Log, login: LoginRecord, end: string): void {
  const { reason, outcome, expiresAt, clockSkewMs, expiredOnArrival } = login;
  const line = {
    reason,
    outcome,
    expires_at: expiresAt === undefined ? null : formatInstant(expiresAt),
    clock_skew_ms: clockSkewMs,
  };
  const said = DONE[reason];
  if (expiresAt === undefined) {
    log.warn(line, `${said}, but the service sent no readable expire_datetime; renewed every 30 minutes${end}`);
    return;
  }
  const at = formatSecond(expiresAt);
  const expires = `${reason === 'due' ? 'expires' : 'token expires'} ${at}`;
  if (expiredOnArrival)
    log.warn(line, `${said}, but the token has expired already (${at}); it is used until it is rejected${end}`);
  else if (Math.abs(clockSkewMs ?? 0) > NOTABLE_SKEW_MS)
    log.warn(line, `${said}; ${expires}${describeSkew(clockSkewMs ?? 0)}${end}`);
  else log.info(line, `${said}; ${expires}${end}`);
}

const DONE: Readonly<Record<LoginReason, string>> = {
  start: 'logged in (start)',
  manual: 'logged in (manual)',
  due: 'token renewed',
  'rejected-token': 'logged in again (token rejected)',
};

function describeSkew(ms: number): string {
  const side = ms > 0 ? 'ahead of' : 'behind';
  return `; the service's clock is ${formatDuration(Math.abs(ms))} ${side} this machine's, and is the one that counts for tokens`;
}
