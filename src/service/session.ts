import { isDeepStrictEqual } from 'node:util';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { RunError, StoppedError } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';
import { type Clock, createWakeableLoop } from '../time/clock.ts';
import type { LogIn, LoginReason } from './login.ts';
import { startDeadline } from './retry.ts';
import { createBackoff, createSessionBackoff, type Resource, type SessionFailure } from './session-backoff.ts';
import { ageMs, hasExpired, hasExpiredOnArrival, msUntilDue, type Token } from './token-expiry.ts';

export type SessionOptions = {
  readonly clock: Clock;
  readonly logIn: LogIn;
  readonly credentials: Credentials;
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
/** How long after its login a token is fresh: later, its rejection may have another reason than the credentials. */
const FRESH_MS = 60_000;

/** Who asks for a token. A login is recorded with `runId`, unless another run asked for it before. */
type Asker = { readonly signal: AbortSignal; readonly runId?: number | null | undefined };

/** `rejection` means that the token may be no longer valid. */
type Answer<T> = { readonly rejection: RunError } | { readonly rejection?: never; readonly result: T };

export type Session = ReturnType<typeof createSession>;

/** Holds the token and renews it in time. Knows nothing of HTTP: `logIn` sends the request. Disposal ends a login. */
export function createSession(options: SessionOptions) {
  const { logIn: sendLogin, credentials, clock, leewayMs, loginTimeoutMs, barredBy } = options;
  const backoff = createSessionBackoff(clock);
  /** Backoff after logins that failed for a reason that may pass. */
  const renewalBackoff = createBackoff(clock, { initialMs: 1_000, maxMs: 300_000 });
  /** For each resource, the fresh token that it rejected last; deleted when the resource accepts a token. */
  const rejected = new Map<Resource, Token>();
  /** For each resource, the token of the last login that it caused; deleted likewise. */
  const fresh = new Map<Resource, Token>();
  /** The wait of `keepRenewed`; woken up to be calculated anew. */
  const loop = createWakeableLoop(clock);
  const ending = new AbortController();
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
    using deadline = startDeadline(clock, loginTimeoutMs, AbortSignal.any([options.signal, ending.signal]));
    try {
      cached = await sendLogin(
        { reason: nextReason, runId: () => askedBy },
        { read: readCredentials },
        deadline.signal,
      );
    } catch (error) {
      const { notBefore = 0 } = error instanceof RunError ? error : {};
      if (error instanceof RunError && isLasting(error)) backoff.login.fail({ error });
      else renewalBackoff.fail({ minWaitMs: notBefore - clock.now() });
      throw error;
    }
    expiredOnArrival = hasExpiredOnArrival(cached) ? expiredOnArrival + 1 : 0;
    nextReason = 'due';
    backoff.login.reset();
    renewalBackoff.reset();
    return cached;
  };

  const logIn = (runId: number | null = null): Promise<Token> => {
    askedBy = pendingLogin === undefined ? runId : (askedBy ?? runId);
    pendingLogin ??= startLogin().finally(() => {
      pendingLogin = undefined;
      loop.wake();
    });
    return pendingLogin;
  };

  const blockedBy = (resource: Resource): RunError | undefined => {
    if (barredBy !== undefined) return barredBy;
    const isTokenNeeded = usableToken(resource) === undefined;
    return backoff.blockedBy(resource) ?? (isTokenNeeded ? backoff.blockedBy('login') : undefined);
  };

  /** A token that the resource has not rejected; one login at a time. Rejects like the login, or with the reason. */
  const getToken = async (resource: Resource, { signal, runId }: Asker): Promise<Token> => {
    signal.throwIfAborted();
    const block = blockedBy(resource);
    if (block !== undefined) throw block;
    const isReplacing = isRejected(resource);
    if (isReplacing) nextReason = 'rejected-token';
    const token = usableToken(resource) ?? (await unlessAborted(logIn(runId), signal));
    if (isReplacing) fresh.set(resource, token);
    return token;
  };

  /** No for a fresh token that was not accepted yet, and in the wait after one that helped in nothing. */
  const mayReplace = (resource: Resource, token: Token, { kind }: RunError, wasOld: boolean): boolean => {
    const isWaiting = backoff[resource].remainingMs() > 0;
    if (kind === 'credentials') return fresh.get(resource) !== token || (wasOld && !isWaiting);
    return !rejected.has(resource) && !isWaiting;
  };

  /** Even a fresh token gave no access. It is kept, but no longer used for a resource that rejected it (401, 403). */
  const noteRejection = (resource: Resource, token: Token, error: RunError): void => {
    if (error.kind === 'credentials') {
      rejected.set(resource, token);
      backoff[resource].fail({ error });
    } else {
      rejected.delete(resource);
      fresh.delete(resource);
      if (backoff[resource].remainingMs() === 0) backoff[resource].fail();
    }
  };

  const msUntilRenewal = (): number => {
    const dueMs = cached === undefined ? 0 : msUntilDue(cached, clock, leewayMs, expiredOnArrival);
    return Math.max(dueMs, backoff.login.remainingMs(), renewalBackoff.remainingMs());
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
    token: getToken,
    /** Sends a request with a token, and once more with another if that is rejected and a login may help. */
    request: async <T>(resource: Resource, asker: Asker, send: (token: Token) => Promise<Answer<T>>): Promise<T> => {
      let token = await getToken(resource, asker);
      const wasOld = ageMs(token, clock) > FRESH_MS;
      let answer = await send(token);
      if (answer.rejection !== undefined && mayReplace(resource, token, answer.rejection, wasOld)) {
        // A service that accepts no token would otherwise be asked for one with each poll.
        if (fresh.get(resource) === token) backoff[resource].fail();
        if (token === cached) [cached, nextReason] = [undefined, 'rejected-token'];
        token = await getToken(resource, asker);
        fresh.set(resource, token);
        answer = await send(token);
      }
      if (answer.rejection !== undefined) {
        noteRejection(resource, token, answer.rejection);
        throw answer.rejection;
      }
      backoff[resource].reset();
      rejected.delete(resource);
      fresh.delete(resource);
      return answer.result;
    },
    blockedBy,
    failure: (): SessionFailure | undefined => backoff.current(),
    /** Ends the waits for what only a person can correct; called on SIGHUP and `poll`. */
    retryNow: (): void => {
      backoff.skipWaits();
      if (cached === undefined) nextReason = 'manual';
    },
    /** Renews the token when it is due, independently of polls, until the signal aborts. */
    keepRenewed: (signal: AbortSignal): Promise<void> => {
      const renew = async (): Promise<number> => {
        skipWaitsIfRotated();
        if (msUntilRenewal() <= 0) await logIn().catch(() => undefined);
        return Math.min(msUntilRenewal(), RECHECK_MS);
      };
      return loop.repeat(0, renew, signal);
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      ending.abort(new StoppedError());
      await pendingLogin?.catch(() => undefined);
    },
  };
}

/** Whether a login failed in a way that trying again soon cannot help. */
function isLasting({ kind, retryable }: RunError): boolean {
  return !retryable && (kind === 'credentials' || kind === 'status' || kind === 'contract');
}
