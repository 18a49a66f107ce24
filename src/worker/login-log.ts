import { type Clock, formatInstant, formatSecond } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import type { Log } from '../log.ts';
import type { LoginFailure, LoginReason, LoginRecord } from '../service/login.ts';
import { createStreak, fingerprintOf } from './streak.ts';

/** What the log says of logins. */
export type LoginLog = {
  /** One that was sent: a line if it succeeded. A failed attempt may be followed by another, so it is hardly told. */
  readonly note: (login: LoginRecord) => void;
  /** One that was given up: told when that is new, and then at widening intervals. */
  readonly noteFailure: (failure: LoginFailure) => void;
};

export function createLoginLog(log: Log, clock: Clock): LoginLog {
  const failing = createStreak(clock, 'failed login');
  return {
    note: (login) => {
      const { reason, outcome, errorMessage = '' } = login;
      if (outcome !== 'ok') {
        log.debug({ reason, outcome }, `login attempt ${outcome} (${reason}): ${errorMessage}`);
        return;
      }
      const ended = failing.end();
      logSuccess(log, login, ended === undefined ? '' : `; recovered after ${ended}`);
    },
    noteFailure: ({ reason, outcome, error }) => {
      const loudness = failing.add(fingerprintOf(error));
      const line = { reason, outcome, failures: failing.count(), err: error };
      const again = loudness === 'new' ? '' : ` again; ${failing.describe()}`;
      const level = loudness === 'known' ? 'debug' : 'warn';
      log[level](line, `login ${outcome} (${reason})${again}: ${error.message}`);
    },
  };
}

/** Both clocks may be a little off, and the service's counts in whole seconds. */
const NOTABLE_SKEW_MS = 60_000;

function logSuccess(log: Log, login: LoginRecord, end: string): void {
  const { reason, outcome, expiresAt, clockSkewMs, bornDead } = login;
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
  if (bornDead)
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
