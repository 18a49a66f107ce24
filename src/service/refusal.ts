import { type Clock, formatInstant } from '../clock.ts';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { CredentialsError, RunError } from '../errors.ts';

/** The wait after the service refused the credentials: a minute, doubling to an hour. */
export type RefusalBackoff = {
  /** A login begins: the secret that it sends is the one that a refusal will be about. */
  readonly attempt: () => void;
  /** Begins the next wait. Gives the error back. */
  readonly refuse: (error: CredentialsError) => CredentialsError;
  /** What to tell whoever wants to log in now; undefined where nothing speaks against it. */
  readonly objection: () => CredentialsError | undefined;
  /** The refusal in force, and when (ms, wall clock) the wait after it ends. */
  readonly current: () => { readonly error: CredentialsError; readonly until: number } | undefined;
  /** Time until the wait ends; 0 where there is none. */
  readonly leftMs: () => number;
  /** Ends the wait; the next one is as long as it would have been. */
  readonly clear: () => void;
  /** Ends the wait where the secret is another one than at the refusal. */
  readonly clearIfRotated: () => void;
  /** The credentials are good: waits begin small again. */
  readonly reset: () => void;
};

type Refusal = {
  readonly error: CredentialsError;
  /** On the monotonic clock, in ms. */
  readonly endsAt: number;
  readonly pair: CredentialPair | undefined;
};

const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 3_600_000;

export function createRefusalBackoff(clock: Clock, credentials: Credentials): RefusalBackoff {
  let refusal: Refusal | undefined;
  let attempted: CredentialPair | undefined;
  let count = 0;
  const leftMs = (): number => (refusal === undefined ? 0 : Math.max(0, refusal.endsAt - clock.monotonic()));
  return {
    leftMs,
    attempt: () => {
      attempted = readPair(credentials);
    },
    refuse: (error) => {
      count += 1;
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - 1));
      refusal = { error, endsAt: clock.monotonic() + waitMs, pair: attempted };
      return error;
    },
    objection: () =>
      refusal === undefined || leftMs() === 0 ? undefined : postpone(refusal.error, clock.now() + leftMs()),
    current: () => (refusal === undefined ? undefined : { error: refusal.error, until: clock.now() + leftMs() }),
    clear: () => {
      refusal = undefined;
    },
    clearIfRotated: () => {
      if (refusal !== undefined && isRotated(refusal, credentials)) refusal = undefined;
    },
    reset: () => {
      refusal = undefined;
      count = 0;
    },
  };
}

function postpone(error: CredentialsError, until: number): CredentialsError {
  const message = `${error.message} The next try is at ${formatInstant(until)}, or when the secret changes.`;
  return new CredentialsError(message, {
    cause: error,
    httpStatus: error.httpStatus,
    serviceMessage: error.serviceMessage,
  });
}

function readPair(credentials: Credentials): CredentialPair | undefined {
  try {
    return credentials.read();
  } catch (error) {
    if (error instanceof RunError) return undefined;
    throw error;
  }
}

function isRotated(refusal: Refusal, credentials: Credentials): boolean {
  const pair = readPair(credentials);
  return pair !== undefined && (pair.password !== refusal.pair?.password || pair.username !== refusal.pair.username);
}
