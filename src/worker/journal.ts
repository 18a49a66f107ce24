import { formatInstant } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import { type RunError, toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { LoginRecord } from '../service/login.ts';
import type { LoginRow } from '../store/logins.ts';
import type { Store } from '../store/store.ts';

/** Where what passes between the runs is written down, without making anything wait. Disposing waits for the rows. */
export type Journal = AsyncDisposable & {
  /** A login: a row in the database and a line in the log. */
  readonly recordLogin: (login: LoginRecord) => void;
  /** A pause that the service asked for (its end, in ms), in the row of the last run. */
  readonly recordPause: (until: number) => void;
};

export function createJournal(store: Store, fingerprint: string, log: Log): Journal {
  let writing: Promise<void> = Promise.resolve();
  const write = (change: () => void, onFailure: (err: RunError) => void): void => {
    writing = writing.then(() => store.write(change)).catch((error: unknown) => onFailure(toRunError(error)));
  };
  return {
    recordLogin: (login) => {
      const row = { ...rowOf(login), fingerprint };
      const add = (): void => store.logins.add(row);
      write(add, (err) => {
        store.defer(add);
        log.error({ err }, 'a login could not be recorded yet; its row is written as soon as the database can be');
      });
      logLogin(log, login);
    },
    recordPause: (until) =>
      // Each run writes it down, too.
      write(
        () => store.pauses.note(fingerprint, formatInstant(until)),
        (err) => log.error({ err }, 'a pause could not be recorded'),
      ),
    [Symbol.asyncDispose]: () => writing,
  };
}

function logLogin(log: Log, { reason, outcome, expiresAt, clockSkewMs, bornDead, errorMessage }: LoginRecord): void {
  const line = { reason, outcome, expiresAt: instantOf(expiresAt) ?? null, clockSkewMs };
  if (outcome !== 'ok') log.warn(line, `login ${outcome} (${reason}): ${errorMessage ?? ''}`);
  else if (expiresAt === undefined) {
    log.warn(
      line,
      `logged in (${reason}), but the service says no readable expiry; the token is renewed every 30 minutes`,
    );
  } else if (bornDead) {
    log.warn(
      line,
      `logged in (${reason}), but the token has expired already (${line.expiresAt}); it is used until it is rejected`,
    );
  } else if (Math.abs(clockSkewMs ?? 0) > NOTABLE_SKEW_MS) {
    log.warn(line, `logged in (${reason}); the token expires ${line.expiresAt}${describeSkew(clockSkewMs ?? 0)}`);
  } else log.info(line, `logged in (${reason}); the token expires ${line.expiresAt}`);
}

/** Both clocks may be a little off, and the service's counts in whole seconds. */
const NOTABLE_SKEW_MS = 60_000;

function describeSkew(ms: number): string {
  const side = ms > 0 ? 'ahead of' : 'behind';
  return `; its clock is ${formatDuration(Math.abs(ms))} ${side} this machine's, and is the one that counts`;
}

function rowOf({ at, outcome, reason, expiresAt, clockSkewMs, errorMessage, notBefore }: LoginRecord): LoginRow {
  return {
    at: formatInstant(at),
    outcome,
    reason,
    expires_at: instantOf(expiresAt) ?? null,
    clock_skew_ms: clockSkewMs ?? null,
    error_message: errorMessage ?? null,
    not_before: instantOf(notBefore) ?? null,
  };
}

function instantOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatInstant(ms);
}
