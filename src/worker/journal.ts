import { formatInstant } from '../clock.ts';
import { type RunError, toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { LoginRecord } from '../service/login.ts';
import type { Store } from '../store/store.ts';
import type { LoginRow } from '../store/tables/logins.ts';

/** Where what passes between the runs is written down, without making anything wait. Disposing waits for the rows. */
export type Journal = AsyncDisposable & {
  /** A login, in a row of its own. */
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
      write(
        () => store.logins.add(row),
        (err) =>
          log.error(
            { err, reason: login.reason, outcome: login.outcome },
            'a login could not be recorded in the database',
          ),
      );
    },
    recordPause: (until) =>
      // Each run writes it down, too.
      write(
        () => store.runs.notePause(fingerprint, formatInstant(until)),
        (err) => log.error({ err }, 'a Retry-After could not be recorded'),
      ),
    [Symbol.asyncDispose]: () => writing,
  };
}

function rowOf({ at, outcome, reason, expiresAt, clockSkewMs, errorMessage, error }: LoginRecord): LoginRow {
  return {
    at: formatInstant(at),
    outcome,
    reason,
    expires_at: instantOf(expiresAt) ?? null,
    clock_skew_ms: clockSkewMs ?? null,
    error_message: errorMessage ?? null,
    not_before: instantOf(error?.notBefore) ?? null,
  };
}

function instantOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatInstant(ms);
}
