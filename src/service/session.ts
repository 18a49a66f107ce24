import { type Clock, formatInstant } from '../clock.ts';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { CredentialsError, RunError } from '../errors.ts';
import type { LogIn, LoginReason, Token } from './login.ts';
import type { Deadline } from './retry.ts';
import { isBornDead, isDead, msUntilDue } from './token.ts';

/** The holder of the current token: a cached login. It knows nothing of HTTP. */
export type Session = {
  /** A token that is alive, logging in where there is none; one login at a time, whoever asks. */
  readonly token: (signal: AbortSignal) => Promise<Token>;
  /** The service took a request with a token of this session. */
  readonly accept: () => void;
  /** The service rejected this token: it is discarded. */
  readonly reject: (token: Token) => void;
  /** The service rejected a fresh token too: logging in again must wait. Gives the error that says so. */
  readonly giveUp: (token: Token, error: CredentialsError) => CredentialsError;
  /** Forgets any wait after a refusal (SIGHUP). */
  readonly retryNow: () => void;
  /** Renews the token before it expires, near a poll or not, until the signal aborts. */
  readonly keep: (signal: AbortSignal) => Promise<void>;
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

type Refusal = {
  readonly error: CredentialsError;
  readonly since: number;
  readonly waitMs: number;
  readonly pair: CredentialPair | undefined;
};

const FIRST_REFUSAL_WAIT_MS = 60_000;
const LONGEST_REFUSAL_WAIT_MS = 3_600_000;
/** How often a rotated secret and a clock step are looked for. */
const LOOK_AGAIN_MS = 10_000;
const FIRST_RENEWAL_BACKOFF_MS = 1_000;
const LONGEST_RENEWAL_BACKOFF_MS = 30_000;

export function createSession(options: SessionOptions): Session {
  const { clock, credentials } = options;
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;
  let refusal: Refusal | undefined;
  let refusals = 0;
  let bornDead = 0;
  let reason: LoginReason = options.firstReason;

  const refuse = (error: CredentialsError): CredentialsError => {
    refusals += 1;
    const waitMs = Math.min(LONGEST_REFUSAL_WAIT_MS, FIRST_REFUSAL_WAIT_MS * 2 ** (refusals - 1));
    refusal = { error, since: clock.monotonic(), waitMs, pair: readPair(credentials) };
    return error;
  };
  const refusalLeftMs = (): number => (refusal === undefined ? 0 : refusal.since + refusal.waitMs - clock.monotonic());

  const logIn = async (): Promise<Token> => {
    const timeout = AbortSignal.timeout(options.loginTimeoutMs);
    const deadline: Deadline = {
      at: clock.monotonic() + options.loginTimeoutMs,
      signal: AbortSignal.any([options.signal, timeout]),
    };
    try {
      const token = await options.logIn(reason, deadline);
      current = token;
      bornDead = isBornDead(token) ? bornDead + 1 : 0;
      // A fresh token that is rejected again keeps its backoff: only a request that was taken ends that.
      if (reason !== 'rejected-token') refusals = 0;
      refusal = undefined;
      reason = 'due';
      return token;
    } catch (error) {
      throw error instanceof CredentialsError ? refuse(error) : error;
    } finally {
      pending = undefined;
    }
  };
  const logInOnce = (): Promise<Token> => {
    pending ??= logIn();
    return pending;
  };

  const token = async (signal: AbortSignal): Promise<Token> => {
    signal.throwIfAborted();
    if (current !== undefined && !isDead(current, clock)) return current;
    if (refusal !== undefined && refusalLeftMs() > 0) throw postponed(refusal.error, clock.now() + refusalLeftMs());
    return unlessAborted(logInOnce(), signal);
  };

  const keep = async (signal: AbortSignal): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      const waitMs = msUntilLogin();
      if (waitMs > 0) {
        await clock.sleep(Math.min(waitMs, LOOK_AGAIN_MS), signal).catch(() => undefined);
        if (refusal !== undefined && isRotated(refusal, credentials)) refusal = undefined;
        continue;
      }
      try {
        await logInOnce();
        failures = 0;
      } catch (error) {
        failures += 1;
        if (refusal === undefined) await clock.sleep(renewalWaitMs(failures, error), signal).catch(() => undefined);
      }
    }
  };
  const msUntilLogin = (): number => {
    if (refusal !== undefined && refusalLeftMs() > 0) return refusalLeftMs();
    return current === undefined ? 0 : msUntilDue(current, clock, options.leewayMs, bornDead);
  };
  const renewalWaitMs = (failures: number, error: unknown): number => {
    const longest = Math.min(LONGEST_RENEWAL_BACKOFF_MS, FIRST_RENEWAL_BACKOFF_MS * 2 ** (failures - 1));
    const pauseMs = error instanceof RunError ? (error.notBefore ?? 0) - clock.now() : 0;
    return Math.max((0.5 + options.random() / 2) * longest, pauseMs);
  };

  return {
    token,
    keep,
    current: () => current,
    accept: () => {
      refusals = 0;
    },
    reject: (rejected) => {
      if (current !== rejected) return;
      current = undefined;
      reason = 'rejected-token';
    },
    giveUp: (rejected, error) => {
      if (current === rejected) current = undefined;
      reason = 'rejected-token';
      return refuse(error);
    },
    retryNow: () => {
      refusal = undefined;
    },
    refusal: () =>
      refusal === undefined ? undefined : { error: refusal.error, until: clock.now() + Math.max(0, refusalLeftMs()) },
  };
}

function postponed(error: CredentialsError, until: number): CredentialsError {
  return new CredentialsError(
    `${error.message} The next try is at ${formatInstant(until)}, or when the secret changes.`,
    {
      cause: error,
      httpStatus: error.httpStatus,
      serviceMessage: error.serviceMessage,
    },
  );
}

function readPair(credentials: Credentials): CredentialPair | undefined {
  try {
    return credentials.read();
  } catch (error) {
    if (error instanceof RunError) return undefined;
    throw error;
  }
}

/** Whether the secret is another one than at the refusal. */
function isRotated(refusal: Refusal, credentials: Credentials): boolean {
  const pair = readPair(credentials);
  return pair !== undefined && (pair.password !== refusal.pair?.password || pair.username !== refusal.pair.username);
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
