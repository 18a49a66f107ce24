import { formatInstant } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { LoginRecord } from '../service/login.ts';
import type { LoginRow } from '../store/logins.ts';
import type { Store } from '../store/store.ts';

/** Where logins are written down: a row in the database and a line in the log each. Disposing waits for the rows. */
export type LoginJournal = AsyncDisposable & { readonly record: (login: LoginRecord) => void };

/** Writes logins one after the other, without making a login wait for the disk. */
export function createLoginJournal(store: Store, fingerprint: string, log: Log): LoginJournal {
  let writing: Promise<void> = Promise.resolve();
  const write = async (row: LoginRow): Promise<void> => {
    try {
      await store.write(() => store.logins.add(row));
    } catch (error) {
      log.error({ err: toRunError(error) }, 'a login could not be recorded');
    }
  };
  return {
    record: (login) => {
      const row = { ...rowOf(login), fingerprint };
      writing = writing.then(() => write(row));
      logLogin(log, login);
    },
    [Symbol.asyncDispose]: () => writing,
  };
}

function logLogin(log: Log, { reason, outcome, expiresAt, clockSkewMs, errorMessage }: LoginRecord): void {
  const line = { reason, outcome, expiresAt: instantOf(expiresAt) ?? null, clockSkewMs };
  if (outcome !== 'ok') log.warn(line, `login ${outcome} (${reason}): ${errorMessage ?? ''}`);
  else if (expiresAt === undefined) {
    log.warn(
      line,
      `logged in (${reason}), but the service says no readable expiry; the token is renewed every 30 minutes`,
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
