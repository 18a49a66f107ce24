import { unlessAborted } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { CredentialsError, RunError, TransportError } from '../errors.ts';
import type { LogIn, LoginReason } from './login.ts';
import { createPace } from './pace.ts';
import { createRefusalBackoff, type Refusal } from './refusal.ts';
import { createRejections, type Resource } from './rejection.ts';
import { startDeadline } from './retry.ts';
import { isBornDead, isDead, msUntilDue, type Token } from './token.ts';

/** The holder of the current token: a cached login. It knows nothing of HTTP. */
export type Session = {
  /**
   * A token that is alive and that the resource has not rejected, logging in where there is none; one login at a time,
   * whoever asks. Rejects with a CredentialsError while a wait after a refusal speaks against it.
   */
  readonly token: (resource: Resource, signal: AbortSignal) => Promise<Token>;
  /** The service took a request for the resource with a token of this session. */
  readonly accept: (resource: Resource) => void;
  /**
   * The service rejected this token: it is discarded, and the one that takes its place is given. Undefined where this
   * one was made to try the resource again after it had rejected a fresh one: the next would fare no better.
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
  /** Why the first login is made: the worker starts, or somebody asked for it. */
  readonly firstReason: LoginReason;
  /** How long one login may take, retries included. */
  readonly loginTimeoutMs: number;
  /** Ends whatever login is under way. */
  readonly signal: AbortSignal;
};

/** How often a rotated secret and a clock step are looked for. */
const LOOK_AGAIN_MS = 10_000;

export function createSession(options: SessionOptions): Session {
  const { clock, credentials } = options;
  const refusals = createRefusalBackoff(clock);
  const rejections = createRejections(clock);
  const pace = createPace(options);
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;
  let reason: LoginReason = options.firstReason;
  /** The credentials of the last login: those that a refusal is about. */
  let pair: CredentialPair | undefined;
  /** Logins in a row that gave a token which had expired already. */
  let bornDead = 0;
  /** Aborts when `keep` has to look again before its wait is over. */
  let news = new AbortController();

  const settle = (token: Token): Token => {
    current = token;
    bornDead = isBornDead(token) ? bornDead + 1 : 0;
    reason = 'due';
    refusals.reset();
    pace.reset();
    return token;
  };
  const fail = (error: unknown): unknown => {
    if (error instanceof CredentialsError) return refusals.refuse(error, pair);
    pace.slowDown(error);
    return error;
  };
  const logIn = async (): Promise<Token> => {
    pair = readPair(credentials);
    using deadline = startDeadline(options, options.loginTimeoutMs, options.signal);
    try {
      return settle(await options.logIn(reason, deadline));
    } catch (error) {
      throw fail(error);
    } finally {
      pending = undefined;
      news.abort();
      news = new AbortController();
    }
  };
  const logInOnce = (): Promise<Token> => {
    pending ??= logIn();
    return pending;
  };
  /** The current token, unless it is dead or the resource has rejected it. */
  const usable = (resource: Resource): Token | undefined =>
    current === undefined || isDead(current, clock) || rejections.isSpent(resource, current) ? undefined : current;
  const objection = (resource: Resource): CredentialsError | undefined =>
    rejections.objection(resource) ?? (usable(resource) === undefined ? refusals.objection() : undefined);
  const token = async (resource: Resource, signal: AbortSignal): Promise<Token> => {
    signal.throwIfAborted();
    const against = objection(resource);
    if (against !== undefined) throw against;
    const held = usable(resource);
    if (held !== undefined) return held;
    if (current !== undefined && rejections.isSpent(resource, current)) reason = 'rejected-token';
    const fresh = await unlessAborted(logInOnce(), signal).catch((error: unknown) => {
      throw error === signal.reason ? namingLogin(error) : error;
    });
    rejections.probe(resource, fresh);
    return fresh;
  };
  const refusal = (): Refusal | undefined => refusals.current() ?? rejections.current();
  const forgetRotated = (): void => {
    const now = refusal() === undefined ? undefined : readPair(credentials);
    if (now === undefined) return;
    refusals.clearIfRotated(now);
    rejections.clearIfRotated(now);
  };

  return {
    token,
    objection,
    keep: async (signal) => {
      signal.addEventListener('abort', () => news.abort(), { once: true });
      while (!signal.aborted) {
        const dueMs = current === undefined ? 0 : msUntilDue(current, clock, options.leewayMs, bornDead);
        const waitMs = Math.max(dueMs, refusals.leftMs(), pace.leftMs());
        if (waitMs > 0) {
          await rest(Math.min(waitMs, LOOK_AGAIN_MS), clock, news.signal);
          forgetRotated();
        } else {
          await logInOnce().catch(() => undefined);
        }
      }
    },
    accept: (resource) => {
      rejections.lift(resource);
    },
    replace: async (resource, rejected, signal) => {
      if (rejections.isProbe(resource, rejected)) return undefined;
      if (rejected === current) {
        current = undefined;
        reason = 'rejected-token';
      }
      return token(resource, signal);
    },
    giveUp: (resource, rejected, error) => rejections.bar(resource, rejected, error, pair),
    retryNow: () => {
      refusals.clear();
      rejections.clear();
      if (current === undefined) reason = 'manual';
    },
    settled: async () => {
      await pending?.catch(() => undefined);
    },
    current: () => current,
    refusal,
  };
}

/** A run whose time is up says that it was spent on the login. */
function namingLogin(reason: unknown): unknown {
  if (!(reason instanceof TransportError)) return reason;
  return new TransportError('timeout', false, `${reason.message} The login was still under way.`);
}

/** Undefined where the secret cannot be read at present; the login itself says so. */
function readPair(credentials: Credentials): CredentialPair | undefined {
  try {
    return credentials.read();
  } catch (error) {
    if (error instanceof RunError) return undefined;
    throw error;
  }
}

/** Sleeps, and wakes without a word when the signal aborts. */
async function rest(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal).catch(() => undefined);
}
