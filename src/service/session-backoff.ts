import { RunError } from '../errors.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';
import { exponentialDelayMs } from '../time/exponential-delay.ts';

/** Exponential backoff after failures in a row. A `random` below 1 shortens a wait, by half at most (jitter). */
export function createBackoff(
  clock: Clock,
  { initialMs, maxMs, random = () => 1 }: { initialMs: number; maxMs: number; random?: () => number },
) {
  let failures = 0;
  /** The end of the wait on the monotonic clock, in ms. */
  let endsAt = Number.NEGATIVE_INFINITY;
  const remainingMs = (): number => Math.max(0, endsAt - clock.monotonic());
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
    },
    /** The end of the wait (ms) by the wall clock as it is now. */
    until: (): number => clock.now() + remainingMs(),
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
 * A login that failed in a way that only a person can correct, or a fresh token that a resource rejected. The next try
 * is at `until` (ms, wall clock).
 */
export type SessionFailure = { readonly subject: Subject; readonly error: RunError; readonly until: number };

/** The waits after such failures in a row. */
export const LASTING_FAILURE = { initialMs: 60_000, maxMs: 3_600_000 };

/** Backoff for what trying again soon cannot help, separate for the login and for each resource. */
export function createSessionBackoff(clock: Clock) {
  const create = () => createBackoff(clock, LASTING_FAILURE);
  const backoffs = { login: create(), leagues: create(), profile: create() };
  /** The error that blocks each subject, deleted when the subject succeeds or its wait is skipped. */
  const errors = new Map<Subject, RunError>();
  return {
    /** Without an error, the wait blocks nothing. */
    fail: (subject: Subject, error?: RunError): void => {
      if (error === undefined) errors.delete(subject);
      else errors.set(subject, error);
      backoffs[subject].fail();
    },
    succeed: (subject: Subject): void => {
      errors.delete(subject);
      backoffs[subject].reset();
    },
    remainingMs: (subject: Subject): number => backoffs[subject].remainingMs(),
    /** The error that blocks the subject now; undefined if the subject may be tried. */
    blockedBy: (subject: Subject): RunError | undefined => {
      const error = errors.get(subject);
      if (error === undefined || backoffs[subject].remainingMs() === 0) return undefined;
      const until = formatTimestamp(backoffs[subject].until());
      const next = `The next try is at ${until}; send SIGHUP or change the secret file to try now.`;
      const { kind, message, httpStatus, serviceMessage } = error;
      return new RunError(kind, false, `${message} ${next}`, { cause: error, httpStatus, serviceMessage });
    },
    /** The failure of the login if there is one, otherwise of the leagues, otherwise of the profile. */
    current: (): SessionFailure | undefined => {
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
