import { formatInstant } from '../clock.ts';
import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { LoginRecord } from '../service/login.ts';
import type { Store } from '../store/store.ts';

/** Records what happens between the runs, without making anything wait. Disposing waits for the rows. */
export type LoginRecorder = AsyncDisposable & {
  /** Adds the login's row. */
  readonly recordLogin: (login: LoginRecord) => void;
  /** Notes a Retry-After (its end, in ms) in the row of the last run. Each run writes it, too. */
  readonly recordRetryAfter: (until: number) => void;
};

export function createLoginRecorder(store: Store, fingerprint: string, log: Log): LoginRecorder {
  let writing: Promise<void> = Promise.resolve();
  const write = (what: string, change: () => void): void => {
    writing = writing
      .then(() => store.write(change))
      .catch((error: unknown) =>
        log.error({ err: toRunError(error) }, `${what} could not be recorded in the database`),
      );
  };
  return {
    recordLogin: (login) => {
      const row = {
        at: formatInstant(login.at),
        outcome: login.outcome,
        reason: login.reason,
        expires_at: timestampOf(login.expiresAt),
        clock_skew_ms: login.clockSkewMs ?? null,
        error_message: login.errorMessage ?? null,
        not_before: timestampOf(login.error?.notBefore),
        fingerprint,
      };
      write(`a login (${login.reason}, ${login.outcome})`, () => store.logins.add(row));
    },
    recordRetryAfter: (until) => write('a Retry-After', () => store.runs.notePause(fingerprint, formatInstant(until))),
    [Symbol.asyncDispose]: () => writing,
  };
}

function timestampOf(ms: number | undefined): string | null {
  return ms === undefined ? null : formatInstant(ms);
}
