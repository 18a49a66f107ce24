import type { Clock } from '../clock.ts';
import type { Credentials } from '../config/credentials.ts';
import { CredentialsError, RunError } from '../errors.ts';
import type { LogIn, LoginReason } from './login.ts';
import { createRefusalBackoff } from './refusal.ts';
import { startDeadline } from './retry.ts';
import { isBornDead, isDead, msUntilDue, type Token } from './token.ts';

/** The holder of the current token: a cached login. It knows nothing of HTTP. */
export type Session = {
  /** A token that is alive, logging in where there is none; one login at a time, whoever asks. */
  readonly token: (signal: AbortSignal) => Promise<Token>;
  /** The service took a request with a token of this session. */
  readonly accept: () => void;
  /** The service rejected this token: it is discarded. */
  readonly reject: (token: Token) => void;
  /** The service rejected a fresh token too: logging in again must wait. Gives the error back. */
  readonly giveUp: (token: Token, error: CredentialsError) => CredentialsError;
  /** Forgets any wait after a refusal (SIGHUP). */
  readonly retryNow: () => void;
  /** Renews the token before it expires, near a poll or not, until the signal aborts. */
  readonly keep: (signal: AbortSignal) => Promise<void>;
  /** Settles when no login is under way. */
  readonly settled: () => Promise<void>;
  readonly current: () => Token | undefined;
  /** The refusal in force, and when (ms, wall clock) it will be tried again. */
  readonly refusal: () => { readonly error: CredentialsError; readonly until: number } | undefined;
};

export type SessionOptions = {
  readonly logIn: LogIn;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: () => number;
  readonly leewayMs: number;
  /** Why the first login is made: the worker starts, or somebody asked for it. */
  readonly firstReason: LoginReason;
  /** How long one login may take, retries included. */
  readonly loginTimeoutMs: number;
  /** Ends whatever login is under way. */
  readonly signal: AbortSignal;
};

/** How often a rotated secret and a clock step are looked for. */
const LOOK_AGAIN_MS = 10_000;
const FIRST_RENEWAL_BACKOFF_MS = 1_000;
const LONGEST_RENEWAL_BACKOFF_MS = 30_000;

export function createSession(options: SessionOptions): Session {
  const { clock } = options;
  const refusals = createRefusalBackoff(clock, options.credentials);
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;
  let reason: LoginReason = options.firstReason;
  /** Logins in a row that gave a token which had expired already. */
  let bornDead = 0;

  const settle = (token: Token): Token => {
    current = token;
    bornDead = isBornDead(token) ? bornDead + 1 : 0;
    // After a rejected token only a request that is taken proves the credentials good again.
    if (reason === 'rejected-token') refusals.clear();
    else refusals.reset();
    reason = 'due';
    return token;
  };
  const logIn = async (): Promise<Token> => {
    refusals.attempt();
    using deadline = startDeadline(options, options.loginTimeoutMs, options.signal);
    try {
      return settle(await options.logIn(reason, deadline));
    } catch (error) {
      throw error instanceof CredentialsError ? refusals.refuse(error) : error;
    } finally {
      pending = undefined;
    }
  };
  const logInOnce = (): Promise<Token> => {
    pending ??= logIn();
    return pending;
  };
  const msUntilLogin = (): number => {
    if (refusals.leftMs() > 0) return refusals.leftMs();
    return current === undefined ? 0 : msUntilDue(current, clock, options.leewayMs, bornDead);
  };
  const discard = (token: Token): void => {
    if (current !== token) return;
    current = undefined;
    reason = 'rejected-token';
  };

  return {
    token: async (signal) => {
      signal.throwIfAborted();
      if (current !== undefined && !isDead(current, clock)) return current;
      const objection = refusals.objection();
      if (objection !== undefined) throw objection;
      return unlessAborted(logInOnce(), signal);
    },
    keep: async (signal) => {
      let failures = 0;
      while (!signal.aborted) {
        const waitMs = msUntilLogin();
        if (waitMs > 0) {
          await rest(Math.min(waitMs, LOOK_AGAIN_MS), clock, signal);
          refusals.clearIfRotated();
          continue;
        }
        try {
          await logInOnce();
          failures = 0;
        } catch (error) {
          failures += 1;
          // A refusal has its own wait; whatever else failed is not tried again at once either.
          if (!(error instanceof CredentialsError)) await rest(renewalWaitMs(failures, error, options), clock, signal);
        }
      }
    },
    accept: () => {
      // While a renewal is refused the old token still serves, and that proves nothing.
      if (refusals.current() === undefined) refusals.reset();
    },
    reject: discard,
    giveUp: (token, error) => {
      discard(token);
      return refusals.refuse(error);
    },
    retryNow: () => {
      refusals.clear();
      if (current === undefined) reason = 'manual';
    },
    settled: async () => {
      await pending?.catch(() => undefined);
    },
    current: () => current,
    refusal: refusals.current,
  };
}

/** While the old token still serves, renewing it is tried again soon, and ever less often. */
function renewalWaitMs(failures: number, error: unknown, { clock, random }: SessionOptions): number {
  const longest = Math.min(LONGEST_RENEWAL_BACKOFF_MS, FIRST_RENEWAL_BACKOFF_MS * 2 ** (failures - 1));
  const pauseMs = error instanceof RunError ? (error.notBefore ?? 0) - clock.now() : 0;
  return Math.max((0.5 + random() / 2) * longest, pauseMs);
}

/** Sleeps, and wakes without a word when the signal aborts. */
async function rest(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal).catch(() => undefined);
}

/** The promise's value, unless the one who waits gives up first; what he waited for goes on for the others. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
