import { isDeepStrictEqual } from 'node:util';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { RunError } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';
import type { Clock } from '../time/clock.ts';
import { createWakeableSleep } from '../time/wakeable-sleep.ts';
import type { LogIn, LoginReason } from './login.ts';
import { startDeadline } from './retry.ts';
import { createBackoff, createSessionBackoff, type Resource, type SessionFailure } from './session-backoff.ts';
import { hasExpired, hasExpiredOnArrival, msUntilDue, type Token } from './token.ts';

export type SessionOptions = {
  readonly logIn: LogIn;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: () => number;
  readonly leewayMs: number;
  readonly loginTimeoutMs: number;
  readonly firstReason: LoginReason;
  /** Keeps every login of this session from being sent. */
  readonly barredBy?: RunError | undefined;
  /** Aborts the login in progress. */
  readonly signal: AbortSignal;
};

/** While `keepRenewed` waits, it checks this often whether a secret has changed or the clock was set. */
const RECHECK_MS = 10_000;

export type Session = ReturnType<typeof createSession>;

/** Holds the token and logs in to renew it before it expires. Does not depend on HTTP: `logIn` sends the request. */
export function createSession(options: SessionOptions) {
  const { logIn: sendLogin, credentials, clock, random, leewayMs, loginTimeoutMs, barredBy } = options;
  const backoff = createSessionBackoff(clock);
  /** Backoff after logins that failed for a reason that may pass. */
  const renewalBackoff = createBackoff(clock, { random, initialMs: 1_000, maxMs: 300_000 });
  /** For each resource, the fresh token that it rejected last; deleted when the resource accepts a token. */
  const rejected = new Map<Resource, Token>();
  /** The wait of `keepRenewed`; woken up to be calculated anew. */
  const sleeper = createWakeableSleep(clock);
  let cached: Token | undefined;
  let pendingLogin: Promise<Token> | undefined;
  /** The run that first asked for the login in progress; null if none did. */
  let askedBy: number | null = null;
  let nextReason = options.firstReason;
  /** The number of consecutive logins whose token had expired on arrival. */
  let expiredOnArrival = 0;
  /** The credentials of the last login; undefined before the first login or if the credentials could not be read. */
  let lastCredentials: CredentialPair | undefined;

  const isRejected = (resource: Resource): boolean => cached !== undefined && cached === rejected.get(resource);

  const usableToken = (resource: Resource): Token | undefined => {
    if (cached === undefined || hasExpired(cached, clock)) return undefined;
    return isRejected(resource) ? undefined : cached;
  };

  const readCredentials = (): CredentialPair => {
    const before = lastCredentials;
    lastCredentials = undefined;
    lastCredentials = credentials.read();
    if (!isDeepStrictEqual(lastCredentials, before)) backoff.skipWaits();
    return lastCredentials;
  };

  const startLogin = async (): Promise<Token> => {
    using deadline = startDeadline(clock, loginTimeoutMs, options.signal);
    try {
      cached = await sendLogin(
        { reason: nextReason, runId: () => askedBy },
        { read: readCredentials },
        deadline.signal,
      );
    } catch (error) {
      if (error instanceof RunError && isLasting(error)) backoff.fail('login', error);
      else renewalBackoff.fail(error instanceof RunError ? (error.notBefore ?? 0) - clock.now() : 0);
      throw error;
    }
    expiredOnArrival = hasExpiredOnArrival(cached) ? expiredOnArrival + 1 : 0;
    nextReason = 'due';
    backoff.succeed('login');
    renewalBackoff.reset();
    return cached;
  };

  const logIn = (runId: number | null = null): Promise<Token> => {
    askedBy = pendingLogin === undefined ? runId : (askedBy ?? runId);
    pendingLogin ??= startLogin().finally(() => {
      pendingLogin = undefined;
      sleeper.wake();
    });
    return pendingLogin;
  };

  const blockedBy = (resource: Resource): RunError | undefined => {
    if (barredBy !== undefined) return barredBy;
    const isTokenNeeded = usableToken(resource) === undefined;
    return backoff.blockedBy(resource) ?? (isTokenNeeded ? backoff.blockedBy('login') : undefined);
  };

  const msUntilRenewal = (): number => {
    const dueMs = cached === undefined ? 0 : msUntilDue(cached, clock, leewayMs, expiredOnArrival);
    return Math.max(dueMs, backoff.remainingMs('login'), renewalBackoff.remainingMs());
  };

  const skipWaitsIfRotated = (): void => {
    if (backoff.current() === undefined) return;
    try {
      if (!isDeepStrictEqual(credentials.read(), lastCredentials)) backoff.skipWaits();
    } catch (error) {
      // A secret file may be unreadable while it is being replaced.
      if (!(error instanceof RunError)) throw error;
    }
  };

  return {
    current: (): Token | undefined => cached,
    /**
     * Resolves to a token that the resource has not rejected; logs in if there is none (single flight). Rejects with
     * the error of the login, also during the wait for the next one, or with the signal's reason. The login is recorded
     * with `runId`, unless another run asked for it before.
     */
    token: async (resource: Resource, signal: AbortSignal, runId?: number | null): Promise<Token> => {
      signal.throwIfAborted();
      const block = blockedBy(resource);
      if (block !== undefined) throw block;
      if (isRejected(resource)) nextReason = 'rejected-token';
      return usableToken(resource) ?? (await unlessAborted(logIn(runId), signal));
    },
    /**
     * Whether another login may help after this error: no, if the resource rejected a fresh token earlier, or if a
     * fresh token did not end `result=fail` and the wait after that has not ended.
     */
    mayReplace: (resource: Resource, { kind }: RunError): boolean => {
      if (rejected.has(resource)) return false;
      return kind === 'credentials' || backoff.remainingMs(resource) === 0;
    },
    reportAccepted: (resource: Resource): void => {
      backoff.succeed(resource);
      rejected.delete(resource);
    },
    discard: (token: Token): void => {
      if (token !== cached) return;
      cached = undefined;
      nextReason = 'rejected-token';
    },
    /**
     * Starts the backoff of a resource to which even a fresh token gave no access. The token is kept, but no longer
     * used for the resource if that rejected it (a CredentialsError). Returns `error`.
     */
    reportRejected: (resource: Resource, token: Token, error: RunError): RunError => {
      if (error.kind === 'credentials') {
        rejected.set(resource, token);
        backoff.fail(resource, error);
      } else {
        rejected.delete(resource);
        if (backoff.remainingMs(resource) === 0) backoff.fail(resource);
      }
      return error;
    },
    blockedBy,
    failure: (): SessionFailure | undefined => backoff.current(),
    /** Ends the waits for what only a person can correct; called on SIGHUP. */
    retryNow: (): void => {
      backoff.skipWaits();
      if (cached === undefined) nextReason = 'manual';
    },
    /** Renews the token when it is due, independently of polls, until the signal aborts. */
    keepRenewed: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        const waitMs = msUntilRenewal();
        if (waitMs > 0) {
          await sleeper.sleep(Math.min(waitMs, RECHECK_MS), signal);
          skipWaitsIfRotated();
        } else {
          await logIn().catch(() => undefined);
        }
      }
    },
    /** Resolves when the login in progress, if any, has ended. */
    settled: async (): Promise<void> => {
      await pendingLogin?.catch(() => undefined);
    },
  };
}

/** Whether a login failed in a way that trying again soon cannot help. */
function isLasting({ kind, retryable }: RunError): boolean {
  return !retryable && (kind === 'credentials' || kind === 'status' || kind === 'contract');
}
