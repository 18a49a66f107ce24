import { CredentialsError } from '../errors.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';

/** The delay after so many failures in a row: `initialMs`, doubling up to `maxMs`. */
export function exponentialDelayMs(failures: number, initialMs: number, maxMs: number): number {
  return Math.min(maxMs, initialMs * 2 ** Math.max(0, failures - 1));
}

/** The two clocks are not read at the same moment. A larger difference means that the wall clock was set. */
const MIN_STEP_MS = 1_000;

/** Exponential backoff between failures in a row. `random`, from 0 to 1, shortens each wait by up to half (jitter). */
export function createBackoff(
  clock: Clock,
  { initialMs, maxMs, random = () => 1 }: { initialMs: number; maxMs: number; random?: () => number },
) {
  let failures = 0;
  /** On the monotonic clock, in ms. */
  let endsAt = Number.NEGATIVE_INFINITY;
  /** On the wall clock, in ms. */
  let until = Number.NEGATIVE_INFINITY;
  const remainingMs = (): number => Math.max(0, endsAt - clock.monotonic());
  /** Stays the same from call to call, unless the wall clock was set meanwhile. */
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
    /** Starts the next wait, of at least `minWaitMs`. */
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

/** What a token gives access to. An account may be denied one but not the other. */
export type Resource = 'leagues' | 'profile';

type Subject = 'login' | Resource;

/** Rejected credentials, or a fresh token that a resource rejected, and when (ms, wall clock) it is tried again. */
export type CredentialFailure = {
  readonly subject: Subject;
  readonly error: CredentialsError;
  readonly until: number;
};

/** Backoff after rejected credentials (contract, 4), separately for the login and each resource. */
export function createCredentialBackoff(clock: Clock) {
  const create = () => createBackoff(clock, { initialMs: 60_000, maxMs: 3_600_000 });
  const backoffs = { login: create(), leagues: create(), profile: create() };
  /** The last error of each subject, unless it has succeeded or its wait was skipped since. */
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
    /** The error that blocks the subject now; undefined if it may be tried. */
    blockedBy: (subject: Subject): CredentialsError | undefined => {
      const error = errors.get(subject);
      if (error === undefined || backoffs[subject].remainingMs() === 0) return undefined;
      const until = formatTimestamp(backoffs[subject].until());
      const next = `The next try is at ${until}; send SIGHUP or change the secret file to try now.`;
      const { message, httpStatus, serviceMessage } = error;
      return new CredentialsError(`${message} ${next}`, { cause: error, httpStatus, serviceMessage });
    },
    /** The failure of the login if there is one, otherwise the one that is tried again first. */
    current: (): CredentialFailure | undefined => {
      const failures = [...errors].map(([subject, error]) => ({ subject, error, until: backoffs[subject].until() }));
      failures.sort((a, b) => a.until - b.until);
      return failures.find(({ subject }) => subject === 'login') ?? failures[0];
    },
    /** Ends all waits; further failures continue the backoff. */
    skipWaits: (): void => {
      errors.clear();
      for (const backoff of Object.values(backoffs)) backoff.skip();
    },
  };
}
