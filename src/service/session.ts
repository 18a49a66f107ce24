import type { Clock } from '../clock.ts';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { CredentialsError, RunError } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';
import { createBackoff, createRefusals, type Refusal, type Refusals, type Resource } from './backoff.ts';
import type { LogIn, LoginReason } from './login.ts';
import { hasExpired, hasExpiredOnArrival, msUntilDue, type Token } from './token.ts';

/** A token for a request. */
export type Grant = {
  readonly token: Token;
  /** The resource rejected the last fresh token, and has taken none since: a better one is not to be had. */
  readonly isTrial: boolean;
};

/** A cached login: whoever needs a token gets one that has not expired. It knows nothing of HTTP. */
export type Session = {
  /**
   * A token that the resource has not rejected, logging in if there is none; one login at a time, whoever asks. Rejects
   * with a CredentialsError while a wait after a refusal speaks against it, and else with the error of the login, or the
   * signal's reason.
   */
  readonly token: (resource: Resource, signal: AbortSignal) => Promise<Grant>;
  /** The service took a request for the resource with a token of this session. */
  readonly accept: (resource: Resource) => void;
  /** The service rejected this token: it is not given again. */
  readonly discard: (token: Token) => void;
  /** The resource rejected a fresh token too: logging in for it must wait. Gives the error back. */
  readonly reportRejected: (resource: Resource, token: Token, error: CredentialsError) => CredentialsError;
  /** What speaks against asking for this resource now. */
  readonly blockedBy: (resource: Resource) => CredentialsError | undefined;
  /** Forgets any wait after a refusal (SIGHUP). */
  readonly retryNow: () => void;
  /** Renews the token before it expires, near a poll or not, until the signal aborts. */
  readonly keepRenewed: (signal: AbortSignal) => Promise<void>;
  /** Settles when no login is under way. */
  readonly settled: () => Promise<void>;
  readonly current: () => Token | undefined;
  /** The refusal in force. */
  readonly refusal: () => Refusal | undefined;
};

export type SessionOptions = {
  readonly logIn: LogIn;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: () => number;
  readonly leewayMs: number;
  /** Why the first login is made: the worker starts, or an operator asked for it. */
  readonly firstReason: LoginReason;
  /** Ends the login that is under way. */
  readonly signal: AbortSignal;
};

export function createSession(options: SessionOptions): Session {
  const { clock } = options;
  const refusals = createRefusals(clock);
  const cache = createTokenCache(options, refusals);
  /** The fresh token that a resource rejected, until it takes another one. */
  const rejected = new Map<Resource, Token>();

  const usable = (resource: Resource): Token | undefined => {
    const token = cache.current();
    return token === undefined || hasExpired(token, clock) || token === rejected.get(resource) ? undefined : token;
  };
  const blockedBy = (resource: Resource): CredentialsError | undefined =>
    refusals.blockedBy(resource) ?? (usable(resource) === undefined ? refusals.blockedBy('login') : undefined);
  return {
    token: async (resource, signal) => {
      signal.throwIfAborted();
      const refusal = blockedBy(resource);
      if (refusal !== undefined) throw refusal;
      const isRejected = cache.current() !== undefined && cache.current() === rejected.get(resource);
      const reason = isRejected ? 'rejected-token' : undefined;
      const token = usable(resource) ?? (await unlessAborted(cache.logIn(reason), signal));
      return { token, isTrial: rejected.has(resource) };
    },
    accept: (resource) => {
      refusals.end(resource);
      rejected.delete(resource);
    },
    discard: cache.discard,
    reportRejected: (resource, token, error) => {
      rejected.set(resource, token);
      refusals.add(resource, error, cache.lastPair());
      return error;
    },
    blockedBy,
    retryNow: () => {
      refusals.skipWaits();
      cache.expectLogin('manual');
    },
    keepRenewed: (signal) => keepRenewed(cache, refusals, options, signal),
    settled: cache.settled,
    current: cache.current,
    refusal: refusals.current,
  };
}

/** The one token that there is, and the one login that is under way. */
type TokenCache = {
  readonly current: () => Token | undefined;
  /** The login that is under way, or a new one. */
  readonly logIn: (reason?: LoginReason) => Promise<Token>;
  /** Says why the next login is made if there is no token. */
  readonly expectLogin: (reason: LoginReason) => void;
  readonly discard: (token: Token) => void;
  /** Time until the next login, by the life of the token and the failures so far. */
  readonly msUntilRenewal: () => number;
  /** What the last login was made with, if it could be read. */
  readonly lastPair: () => CredentialPair | undefined;
  /** Waits, but not past the end of a login, nor past a call of `wake`. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly wake: () => void;
  readonly settled: () => Promise<void>;
};

/** After logins that failed the session tries by itself; polls that need a token ask for one sooner. */
const RENEWAL_WAITS = { firstMs: 1_000, longestMs: 300_000 } as const;

function createTokenCache(options: SessionOptions, refusals: Refusals): TokenCache {
  const { clock, random, leewayMs, credentials, signal } = options;
  const failures = createBackoff({ clock, random, ...RENEWAL_WAITS });
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;
  let nextReason = options.firstReason;
  /** Logins in a row that gave a token which had expired already. */
  let expiredOnArrival = 0;
  let lastPair: CredentialPair | undefined;
  let awake = new AbortController();

  const wake = (): void => {
    awake.abort();
    awake = new AbortController();
  };
  const remembered: Credentials = {
    read: () => {
      lastPair = undefined;
      lastPair = credentials.read();
      return lastPair;
    },
  };
  const storeToken = (token: Token): void => {
    current = token;
    expiredOnArrival = hasExpiredOnArrival(token) ? expiredOnArrival + 1 : 0;
    nextReason = 'due';
    refusals.end('login');
    failures.reset();
  };
  const logIn = async (): Promise<Token> => {
    try {
      const token = await options.logIn(nextReason, remembered, signal);
      storeToken(token);
      return token;
    } catch (error) {
      if (error instanceof CredentialsError) refusals.add('login', error, lastPair);
      else failures.fail(error instanceof RunError ? (error.notBefore ?? 0) - clock.now() : 0);
      throw error;
    } finally {
      pending = undefined;
      wake();
    }
  };
  return {
    current: () => current,
    logIn: (reason = nextReason) => {
      nextReason = reason;
      pending ??= logIn();
      return pending;
    },
    expectLogin: (reason) => {
      if (current === undefined) nextReason = reason;
    },
    discard: (token) => {
      if (token !== current) return;
      current = undefined;
      nextReason = 'rejected-token';
    },
    msUntilRenewal: () => {
      const dueMs = current === undefined ? 0 : msUntilDue(current, clock, leewayMs, expiredOnArrival);
      return Math.max(dueMs, failures.leftMs());
    },
    lastPair: () => lastPair,
    sleep: (ms) => clock.sleep(ms, awake.signal).catch(() => undefined),
    wake,
    settled: async () => {
      await pending?.catch(() => undefined);
    },
  };
}

/** How often a rotated secret and a clock step are looked for. */
const LOOK_AGAIN_MS = 10_000;

async function keepRenewed(
  cache: TokenCache,
  refusals: Refusals,
  { credentials }: SessionOptions,
  signal: AbortSignal,
): Promise<void> {
  signal.addEventListener('abort', cache.wake, { once: true });
  while (!signal.aborted) {
    const waitMs = Math.max(cache.msUntilRenewal(), refusals.leftMs('login'));
    if (waitMs <= 0) {
      await cache.logIn().catch(() => undefined);
      continue;
    }
    await cache.sleep(Math.min(waitMs, LOOK_AGAIN_MS));
    const pair = refusals.current() === undefined ? undefined : readQuietly(credentials);
    if (pair !== undefined) refusals.skipWaits(pair);
  }
}

/** Undefined if they cannot be read at present. */
function readQuietly(credentials: Credentials): CredentialPair | undefined {
  try {
    return credentials.read();
  } catch (error) {
    if (error instanceof RunError) return undefined;
    throw error;
  }
}
