import type { Clock } from '../clock.ts';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { CredentialsError, RunError, TransportError } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';
import { createBackoff } from './backoff.ts';
import type { LogIn, LoginReason } from './login.ts';
import { createRefusals, type Refusal, type Resource } from './refusals.ts';
import { startDeadline } from './retry.ts';
import { isBornDead, isDead, msUntilDue, type Token } from './token.ts';

/** A cached login: whoever needs a token gets one that is alive. It knows nothing of HTTP. */
export type Session = {
  /**
   * A token that is alive and that the resource has not refused, logging in if there is none; one login at a time,
   * whoever asks. Rejects with a CredentialsError while a wait after a refusal speaks against it, and else with the
   * error of the login, or the signal's reason.
   */
  readonly token: (resource: Resource, signal: AbortSignal) => Promise<Token>;
  /** The service took a request for the resource with a token of this session. */
  readonly accept: (resource: Resource) => void;
  /**
   * The service rejected this token: it is discarded, and the one that takes its place is given. Undefined if this one
   * was made to try the resource again after it had rejected a fresh one: the next would fare no better.
   */
  readonly replace: (resource: Resource, token: Token, signal: AbortSignal) => Promise<Token | undefined>;
  /** The resource rejected a fresh token too: logging in for it must wait. Gives the error back. */
  readonly giveUp: (resource: Resource, token: Token, error: CredentialsError) => CredentialsError;
  /** What speaks against asking for this resource now. */
  readonly objection: (resource: Resource) => CredentialsError | undefined;
  /** Forgets any wait after a refusal (SIGHUP). */
  readonly retryNow: () => void;
  /** Renews the token before it expires, near a poll or not, until the signal aborts. */
  readonly keep: (signal: AbortSignal) => Promise<void>;
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
  /** How long one login may take, retries included. */
  readonly loginTimeoutMs: number;
  /** Ends the login that is under way. */
  readonly signal: AbortSignal;
};

/** How often a rotated secret and a clock step are looked for. */
const LOOK_AGAIN_MS = 10_000;
/** After logins that failed the session tries by itself; polls that need a token ask for one sooner. */
const RENEWAL_WAITS = { firstMs: 1_000, longestMs: 300_000 } as const;

export function createSession(options: SessionOptions): Session {
  const { clock, random, leewayMs } = options;
  const refusals = createRefusals(clock);
  let renewals = createBackoff({ clock, random, ...RENEWAL_WAITS });
  /** The token that a resource rejected though it was fresh, and the one by which it is tried again. */
  const rejected = new Map<Resource, { readonly token: Token; readonly trial?: Token }>();
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;
  let reason = options.firstReason;
  /** Logins in a row that gave a token which had expired already. */
  let bornDead = 0;
  /** Aborts when `keep` has to look again before its wait is over. */
  let wake = new AbortController();

  let lastPair: CredentialPair | undefined;
  const credentials: Credentials = {
    read: () => {
      lastPair = undefined;
      lastPair = options.credentials.read();
      return lastPair;
    },
  };

  const adopt = (token: Token): Token => {
    current = token;
    bornDead = isBornDead(token) ? bornDead + 1 : 0;
    reason = 'due';
    refusals.end('login');
    renewals = createBackoff({ clock, random, ...RENEWAL_WAITS });
    return token;
  };
  const logIn = async (): Promise<Token> => {
    using deadline = startDeadline(options, options.loginTimeoutMs, options.signal);
    try {
      return adopt(await options.logIn(reason, deadline, credentials));
    } catch (error) {
      if (error instanceof CredentialsError) refusals.add('login', error, lastPair);
      else renewals.fail(error instanceof RunError ? (error.notBefore ?? 0) - clock.now() : 0);
      throw error;
    }
  };
  /** The login that is under way, or a new one. */
  const shareLogin = (): Promise<Token> => {
    pending ??= logIn().finally(() => {
      pending = undefined;
      wake.abort();
      wake = new AbortController();
    });
    return pending;
  };

  const isRejected = (resource: Resource): boolean =>
    current !== undefined && rejected.get(resource)?.token === current;
  /** The current token, unless it is dead or the resource has rejected it. */
  const usable = (resource: Resource): Token | undefined =>
    current === undefined || isDead(current, clock) || isRejected(resource) ? undefined : current;
  const objection = (resource: Resource): CredentialsError | undefined =>
    refusals.blockedBy(resource) ?? (usable(resource) === undefined ? refusals.blockedBy('login') : undefined);
  const token = async (resource: Resource, signal: AbortSignal): Promise<Token> => {
    signal.throwIfAborted();
    const against = objection(resource);
    if (against !== undefined) throw against;
    if (isRejected(resource)) reason = 'rejected-token';
    const given = usable(resource) ?? (await untilLoggedIn(shareLogin(), signal));
    const before = rejected.get(resource);
    if (before !== undefined) rejected.set(resource, { ...before, trial: given });
    return given;
  };

  const msUntilRenewal = (): number => {
    const dueMs = current === undefined ? 0 : msUntilDue(current, clock, leewayMs, bornDead);
    return Math.max(dueMs, refusals.leftMs('login'), renewals.leftMs());
  };
  const skipWaitsIfRotated = (): void => {
    const pair = refusals.current() === undefined ? undefined : readQuietly(options.credentials);
    if (pair !== undefined) refusals.skipWaitsUnlessFor(pair);
  };
  const renewOrSleep = async (): Promise<void> => {
    const waitMs = msUntilRenewal();
    if (waitMs > 0) {
      await sleepQuietly(Math.min(waitMs, LOOK_AGAIN_MS), clock, wake.signal);
      skipWaitsIfRotated();
    } else {
      await shareLogin().catch(() => undefined);
    }
  };

  return {
    token,
    objection,
    keep: async (signal) => {
      signal.addEventListener('abort', () => wake.abort(), { once: true });
      while (!signal.aborted) await renewOrSleep();
    },
    accept: (resource) => {
      refusals.end(resource);
      rejected.delete(resource);
    },
    replace: async (resource, old, signal) => {
      if (rejected.get(resource)?.trial === old) return undefined;
      if (old === current) {
        current = undefined;
        reason = 'rejected-token';
      }
      return token(resource, signal);
    },
    giveUp: (resource, fresh, error) => {
      rejected.set(resource, { token: fresh });
      refusals.add(resource, error, lastPair);
      return error;
    },
    retryNow: () => {
      refusals.skipWaits();
      if (current === undefined) reason = 'manual';
    },
    settled: async () => {
      await pending?.catch(() => undefined);
    },
    current: () => current,
    refusal: refusals.current,
  };
}

/** A run whose time is up while it waits for a login says so. */
async function untilLoggedIn(login: Promise<Token>, signal: AbortSignal): Promise<Token> {
  try {
    return await unlessAborted(login, signal);
  } catch (error) {
    if (error !== signal.reason || !(error instanceof TransportError)) throw error;
    throw new TransportError('timeout', false, `${error.message} The login was still under way.`);
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

/** Sleeps, and wakes without a word when the signal aborts. */
async function sleepQuietly(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal).catch(() => undefined);
}
