import { type Clock, formatInstant } from '../clock.ts';
import type { CredentialPair } from '../config/credentials.ts';
import { CredentialsError } from '../errors.ts';

/** What the service refuses, and when (ms, wall clock) it will be tried again. */
export type Refusal = { readonly error: CredentialsError; readonly until: number };

/** The wait after the service refused the credentials: a minute, doubling to an hour. */
export type RefusalBackoff = {
  /** Begins the next wait; `pair` is what was refused, where it could be read. Gives the error back. */
  readonly refuse: (error: CredentialsError, pair: CredentialPair | undefined) => CredentialsError;
  /** What to tell whoever wants to try now; undefined where nothing speaks against it. */
  readonly objection: () => CredentialsError | undefined;
  /** The refusal in force. */
  readonly current: () => Refusal | undefined;
  /** Time until the wait ends; 0 where there is none. */
  readonly leftMs: () => number;
  /** Ends the wait; the next one is as long as it would have been. */
  readonly clear: () => void;
  /** Ends the wait where the credentials are others than those that were refused. */
  readonly clearIfRotated: (pair: CredentialPair) => void;
  /** The credentials are good: waits begin small again. */
  readonly reset: () => void;
};

type Wait = {
  readonly error: CredentialsError;
  /** On the monotonic clock, in ms. */
  readonly endsAt: number;
  /** On the wall clock as it was at the beginning. */
  readonly until: number;
  readonly pair: CredentialPair | undefined;
};

const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 3_600_000;
/** Less is the rounding of two clocks. */
const CLOCK_STEP_MS = 1_000;

export function createRefusalBackoff(clock: Clock): RefusalBackoff {
  let wait: Wait | undefined;
  let count = 0;
  const leftMs = (): number => (wait === undefined ? 0 : Math.max(0, wait.endsAt - clock.monotonic()));
  /** The same instant each time that it is told, unless the clock was set meanwhile. */
  const untilOf = ({ until }: Wait): number => {
    const now = clock.now() + leftMs();
    return Math.abs(now - until) < CLOCK_STEP_MS ? until : now;
  };
  return {
    leftMs,
    refuse: (error, pair) => {
      count += 1;
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - 1));
      wait = { error, endsAt: clock.monotonic() + waitMs, until: clock.now() + waitMs, pair };
      return error;
    },
    objection: () => (wait === undefined || leftMs() === 0 ? undefined : postpone(wait.error, untilOf(wait))),
    current: () => (wait === undefined ? undefined : { error: wait.error, until: untilOf(wait) }),
    clear: () => {
      wait = undefined;
    },
    clearIfRotated: ({ username, password }) => {
      if (wait?.pair?.username !== username || wait.pair.password !== password) wait = undefined;
    },
    reset: () => {
      wait = undefined;
      count = 0;
    },
  };
}

function postpone(error: CredentialsError, until: number): CredentialsError {
  const message = `${error.message} The next try is at ${formatInstant(until)}; SIGHUP, or a change of a secret file, makes it at once.`;
  return new CredentialsError(message, {
    cause: error,
    httpStatus: error.httpStatus,
    serviceMessage: error.serviceMessage,
  });
}
