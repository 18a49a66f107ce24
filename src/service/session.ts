import { unlessAborted } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { Credentials } from '../config/credentials.ts';
import { type CredentialsError, TransportError } from '../errors.ts';
import { createBars, type Resource } from './bar.ts';
import { createKeptToken, type KeptTokenOptions } from './kept-token.ts';
import type { Refusal } from './refusal.ts';
import { rememberLast } from './remembered-credentials.ts';
import { isDead, type Token } from './token.ts';

/** A cached login: whoever needs a token gets one that is alive. It knows nothing of HTTP. */
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

export type SessionOptions = Omit<KeptTokenOptions, 'credentials' | 'onSettled'> & {
  readonly credentials: Credentials;
};

/** How often a rotated secret and a clock step are looked for. */
const LOOK_AGAIN_MS = 10_000;

export function createSession(options: SessionOptions): Session {
  const { clock } = options;
  const credentials = rememberLast(options.credentials);
  const bars = createBars(clock);
  /** Aborts when `keep` has to look again before its wait is over. */
  let wake = new AbortController();
  const onSettled = (): void => {
    wake.abort();
    wake = new AbortController();
  };
  const kept = createKeptToken({ ...options, credentials, onSettled });
  const { current, refusals } = kept;

  /** The current token, unless it is dead or the resource has refused it. */
  const usable = (resource: Resource): Token | undefined => {
    const held = current();
    return held === undefined || isDead(held, clock) || bars.isSpent(resource, held) ? undefined : held;
  };
  const objection = (resource: Resource): CredentialsError | undefined =>
    bars.objection(resource) ?? (usable(resource) === undefined ? refusals.objection() : undefined);
  const token = async (resource: Resource, signal: AbortSignal): Promise<Token> => {
    signal.throwIfAborted();
    const against = objection(resource);
    if (against !== undefined) throw against;
    const held = current();
    if (held !== undefined && bars.isSpent(resource, held)) kept.giveReason('rejected-token');
    const given = usable(resource) ?? (await untilLoggedIn(kept.logIn(), signal));
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
  const renewOrRest = async (): Promise<void> => {
    const waitMs = kept.msUntilDue();
    if (waitMs > 0) {
      await rest(Math.min(waitMs, LOOK_AGAIN_MS), clock, wake.signal);
      forgetRotated();
    } else {
      await kept.logIn().catch(() => undefined);
    }
  };

  return {
    token,
    objection,
    keep: async (signal) => {
      signal.addEventListener('abort', () => wake.abort(), { once: true });
      while (!signal.aborted) await renewOrRest();
    },
    accept: bars.lift,
    replace: async (resource, rejected, signal) => {
      if (bars.isProbe(resource, rejected)) return undefined;
      kept.discard(rejected);
      return token(resource, signal);
    },
    giveUp: (resource, rejected, error) => bars.set(resource, { token: rejected, error, pair: credentials.last() }),
    retryNow: () => {
      refusals.clear();
      bars.clear();
      if (current() === undefined) kept.giveReason('manual');
    },
    settled: kept.settled,
    current,
    refusal,
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
