import { RunError } from '../errors.ts';
import { type Clock, exponentialDelayMs, formatTimestamp } from '../time/clock.ts';

/** A smaller difference is rounding, as the clocks' milliseconds begin at different moments; a larger one, a step. */
const CLOCK_SET_MS = 1_000;

/** Exponential backoff after failures in a row. */
export function createBackoff(clock: Clock, { initialMs, maxMs }: { initialMs: number; maxMs: number }) {
  let failures = 0;
  /** The end of the wait on the monotonic clock, in ms. */
  let endsAt = Number.NEGATIVE_INFINITY;
  let cause: RunError | undefined;
  /** What `until` said last. */
  let toldUntil = 0;
  const remainingMs = (): number => Math.max(0, endsAt - clock.monotonic());
  /** Ends the wait, but keeps the count of failures, so that the next failure continues the backoff. */
  const skip = (): void => {
    endsAt = Number.NEGATIVE_INFINITY;
    cause = undefined;
  };
  return {
    /** Counts a failure and starts the next wait, which lasts at least `minWaitMs`. Without `error`, it blocks nothing. */
    fail: ({ error, minWaitMs = 0 }: { readonly error?: RunError; readonly minWaitMs?: number } = {}): void => {
      failures += 1;
      endsAt = clock.monotonic() + Math.max(exponentialDelayMs(failures, initialMs, maxMs), minWaitMs);
      cause = error;
    },
    /** The error of the last failure; undefined after a success, or if the wait was skipped. */
    error: () => cause,
    /** The end of the wait (ms) by the wall clock as it is now; the same each time, unless that clock was set. */
    until: (): number => {
      const until = clock.now() + remainingMs();
      if (Math.abs(until - toldUntil) >= CLOCK_SET_MS) toldUntil = until;
      return toldUntil;
    },
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

/** A login that only a person can correct, or a resource that rejects fresh tokens. `until` (ms, wall clock): next try. */
export type SessionFailure = { readonly subject: Subject; readonly error: RunError; readonly until: number };

/** The waits after such failures in a row. */
export const LASTING_FAILURE = { initialMs: 60_000, maxMs: 3_600_000 };

/** Backoff for what trying again soon cannot help, separate for the login and for each resource. */
export function createSessionBackoff(clock: Clock) {
  const create = () => createBackoff(clock, LASTING_FAILURE);
  const backoffs = { login: create(), leagues: create(), profile: create() };
  const failureOf = (subject: Subject): SessionFailure | undefined => {
    const error = backoffs[subject].error();
    return error && { subject, error, until: backoffs[subject].until() };
  };
  return {
    ...backoffs,
    /** The error that blocks the subject now; undefined if the subject may be tried. */
    blockedBy: (subject: Subject): RunError | undefined => {
      const failure = failureOf(subject);
      if (failure === undefined || backoffs[subject].remainingMs() === 0) return undefined;
      const { kind, message, httpStatus, serviceMessage } = failure.error;
      const next = `The next try is at ${formatTimestamp(failure.until)}; call league-sync poll or change the secret file to try now.`;
      return new RunError(kind, false, `${message} ${next}`, { cause: failure.error, httpStatus, serviceMessage });
    },
    /** The failure of the login if there is one, otherwise of the leagues, otherwise of the profile. */
    current: () => failureOf('login') ?? failureOf('leagues') ?? failureOf('profile'),
    skipWaits: (): void => {
      for (const backoff of Object.values(backoffs)) backoff.skip();
    },
  };
}
