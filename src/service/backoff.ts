import { CredentialsError } from '../errors.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';

/** The delay (ms) after a number of failures in a row: `initialMs`, doubled with each further failure up to `maxMs`. */
export function exponentialDelayMs(failures: number, initialMs: number, maxMs: number): number {
  return Math.min(maxMs, initialMs * 2 ** Math.max(0, failures - 1));
}

/** If the end of a wait moves by more than this on the wall clock, the clock was set. Smaller moves are imprecision. */
const MIN_STEP_MS = 1_000;

/** Exponential backoff after failures in a row. A `random` below 1 shortens a wait, by half at most (jitter). */
export function createBackoff(
  clock: Clock,
  { initialMs, maxMs, random = () => 1 }: { initialMs: number; maxMs: number; random?: () => number },
) {
  let failures = 0;
  /** The end of the wait on the monotonic clock, in ms. */
  let endsAt = Number.NEGATIVE_INFINITY;
  /** The end of the wait on the wall clock, in ms. */
  let until = Number.NEGATIVE_INFINITY;
  const remainingMs = (): number => Math.max(0, endsAt - clock.monotonic());
  /** The end of the wait (ms, wall clock). It stays the same unless the wall clock was set since the last call. */
  const currentUntil = (): number => {
    const byNow = clock.now() + endsAt - clock.monotonic();
    if (Number.isFinite(byNow) && Math.abs(byNow - until) > MIN_STEP_MS) until = byNow;
    return until;
  };
  /** Ends the wait, but keeps the count of failures. */
  const skip = (): void => {
    endsAt = Number.NEGATIVE_INFINITY;
  };
  return {
    /** Counts a failure and starts the next wait, which lasts at least `minWaitMs`. */
    fail: (minWaitMs = 0): void => {
      failures += 1;
      const waitMs = Math.max((0.5 + random() / 2) * exponentialDelayMs(failures, initialMs, maxMs), minWaitMs);
      endsAt = clock.monotonic() + waitMs;
      until = clock.now() + waitMs;
    },
    until: currentUntil,
    remainingMs,
    skip,
    reset: (): void => {
      failures = 0;
      skip();
    },
  };
}

/** An account can lack access to one of the two. */
export type Resource = 'leagues' | 'profile';

type Subject = 'login' | Resource;

/**
 * Rejected or unreadable credentials (`login`), or a fresh token that a resource rejected. The next try is at `until`
 * (ms, wall clock).
 */
export type CredentialFailure = { readonly subject: Subject; readonly error: CredentialsError; readonly until: number };

/** Backoff after a CredentialsError, separate for the login and for each resource. */
export function createCredentialBackoff(clock: Clock) {
  const create = () => createBackoff(clock, { initialMs: 60_000, maxMs: 3_600_000 });
  const backoffs = { login: create(), leagues: create(), profile: create() };
  /** The last error of each subject, deleted when the subject succeeds or its wait is skipped. */
  const errors = new Map<Subject, CredentialsError>();
  return {
    fail: (subject: Subject, error: CredentialsError): void => {
      errors.set(subject, error);
      backoffs[subject].fail();
    },
    succeed: (subject: Subject): void => {
      errors.delete(subject);
      backoffs[subject].reset();
    },
    remainingMs: (subject: Subject): number => backoffs[subject].remainingMs(),
    /** The error that blocks the subject now; undefined if the subject may be tried. */
    blockedBy: (subject: Subject): CredentialsError | undefined => {
      const error = errors.get(subject);
      if (error === undefined || backoffs[subject].remainingMs() === 0) return undefined;
      const until = formatTimestamp(backoffs[subject].until());
      const next = `The next try is at ${until}; send SIGHUP or change the secret file to try now.`;
      const { message, httpStatus, serviceMessage } = error;
      return new CredentialsError(`${message} ${next}`, { cause: error, httpStatus, serviceMessage });
    },
    /** The failure of the login if there is one, otherwise of the leagues, otherwise of the profile. */
    current: (): CredentialFailure | undefined => {
      const subject = (['login', 'leagues', 'profile'] as const).find((name) => errors.has(name));
      const error = subject && errors.get(subject);
      return subject && error && { subject, error, until: backoffs[subject].until() };
    },
    /** Ends all waits, but keeps the counts of failures, so that the next failure continues the backoff. */
    skipWaits: (): void => {
      errors.clear();
      for (const backoff of Object.values(backoffs)) backoff.skip();
    },
  };
}
