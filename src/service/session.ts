import { unlessAborted } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { CredentialsError, RunError, TransportError } from '../errors.ts';
import { createBars, type Resource } from './bar.ts';
import type { LogIn, LoginReason } from './login.ts';
import { createPace } from './pace.ts';
import { createRefusalBackoff, type Refusal } from './refusal.ts';
import { startDeadline } from './retry.ts';
import { isBornDead, isDead, msUntilDue, type Token } from './token.ts';

/** The holder of the current token: a cached login. It knows nothing of HTTP. */
export type Session = {
  /**
   * A token that is alive and that the resource has not refused, logging in where there is none; one login at a time,
   * whoever asks. Rejects with a CredentialsError while a wait after a refusal speaks against it, and else with the
   * error of the login, or the signal's reason.
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
  /** The refusal in force, and of which resource it is where it is not of the login. */
  readonly refusal: () => (Refusal & { readonly resource?: Resource }) | undefined;
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
  const { clock } = options;
  const refusals = createRefusalBackoff(clock);
  const bars = createBars(clock);
  const pace = createPace(options);
  const credentials = rememberLast(options.credentials);
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;
  let reason: LoginReason = options.firstReason;
  /** Logins in a row that gave a token which had expired already. */
  let bornDead = 0;
  /** Aborts when `keep` has to look again before its wait is over. */
  let wake = new AbortController();

  const adopt = (token: Token): Token => {
    current = token;
    bornDead = isBornDead(token) ? bornDead + 1 : 0;
    reason = 'due';
    refusals.reset();
    pace.reset();
    return token;
  };
  const slowDown = (error: unknown): void => {
    if (error instanceof CredentialsError) refusals.refuse(error, credentials.last());
    else pace.slowDown(error);
  };
  const logIn = async (): Promise<Token> => {
    using deadline = startDeadline(options, options.loginTimeoutMs, options.signal);
    try {
      return adopt(await options.logIn(reason, deadline, credentials));
    } catch (error) {
      slowDown(error);
      throw error;
    }
  };
  const logInOnce = (): Promise<Token> => {
    pending ??= logIn().finally(() => {
      pending = undefined;
      wake.abort();
      wake = new AbortController();
    });
    return pending;
  };
  /** The current token, unless it is dead or the resource has refused it. */
  const usable = (resource: Resource): Token | undefined =>
    current === undefined || isDead(current, clock) || bars.isSpent(resource, current) ? undefined : current;
  const objection = (resource: Resource): CredentialsError | undefined =>
    bars.objection(resource) ?? (usable(resource) === undefined ? refusals.objection() : undefined);
  const token = async (resource: Resource, signal: AbortSignal): Promise<Token> => {
    signal.throwIfAborted();
    const against = objection(resource);
    if (against !== undefined) throw against;
    if (current !== undefined && bars.isSpent(resource, current)) reason = 'rejected-token';
    const given = usable(resource) ?? (await untilLoggedIn(logInOnce(), signal));
    bars.probe(resource, given);
    return given;
  };
  const refusal: Session['refusal'] = () => refusals.current() ?? bars.current();
  const forgetRotated = (): void => {
    const now = refusal() === undefined ? undefined : credentials.peek();
    if (now === undefined) return;
    refusals.clearIfRotated(now);
    bars.clearIfRotated(now);
  };

  return {
    token,
    objection,
    keep: async (signal) => {
      signal.addEventListener('abort', () => wake.abort(), { once: true });
      while (!signal.aborted) {
        const dueMs = current === undefined ? 0 : msUntilDue(current, clock, options.leewayMs, bornDead);
        const waitMs = Math.max(dueMs, refusals.leftMs(), pace.leftMs());
        if (waitMs > 0) {
          await rest(Math.min(waitMs, LOOK_AGAIN_MS), clock, wake.signal);
          forgetRotated();
        } else {
          await logInOnce().catch(() => undefined);
        }
      }
    },
    accept: bars.lift,
    replace: async (resource, rejected, signal) => {
      if (bars.isProbe(resource, rejected)) return undefined;
      if (rejected === current) {
        current = undefined;
        reason = 'rejected-token';
      }
      return token(resource, signal);
    },
    giveUp: (resource, rejected, error) => bars.set(resource, { token: rejected, error, pair: credentials.last() }),
    retryNow: () => {
      refusals.clear();
      bars.clear();
      if (current === undefined) reason = 'manual';
    },
    settled: async () => {
      await pending?.catch(() => undefined);
    },
    current: () => current,
    refusal,
  };
}

/** Credentials that tell what was read of them last: what a refusal is about. */
type RememberedCredentials = Credentials & {
  /** Undefined where they could not be read. */
  readonly last: () => CredentialPair | undefined;
  /** What they are now, unless they cannot be read at present; `last` stays as it is. */
  readonly peek: () => CredentialPair | undefined;
};

function rememberLast({ read }: Credentials): RememberedCredentials {
  let last: CredentialPair | undefined;
  return {
    read: () => {
      last = undefined;
      last = read();
      return last;
    },
    last: () => last,
    peek: () => {
      try {
        return read();
      } catch (error) {
        if (error instanceof RunError) return undefined;
        throw error;
      }
    },
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

/** Sleeps, and wakes without a word when the signal aborts. */
async function rest(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal).catch(() => undefined);
}
