import type { Clock } from '../clock.ts';
import { CredentialsError } from '../errors.ts';
import type { LogIn, LoginReason } from './login.ts';
import { createPace } from './pace.ts';
import { createRefusalBackoff, type RefusalBackoff } from './refusal.ts';
import type { RememberedCredentials } from './remembered-credentials.ts';
import { startDeadline } from './retry.ts';
import { isBornDead, msUntilDue, type Token } from './token.ts';

/** The one token that is kept, and the one login that gets the next. */
export type KeptToken = {
  readonly current: () => Token | undefined;
  /** Gets the next token, by the login that is under way where there is one. Rejects with its error. */
  readonly logIn: () => Promise<Token>;
  /** Lets go of this token, if it is still the one. */
  readonly discard: (token: Token) => void;
  /** Why the next login is made. */
  readonly giveReason: (reason: LoginReason) => void;
  /** How long (ms) until a login is due that nobody has to ask for; 0 from then on. */
  readonly msUntilDue: () => number;
  /** What speaks against logging in. */
  readonly refusals: RefusalBackoff;
  /** Settles when no login is under way. */
  readonly settled: () => Promise<void>;
};

export type KeptTokenOptions = {
  readonly logIn: LogIn;
  readonly credentials: RememberedCredentials;
  readonly clock: Clock;
  readonly random: () => number;
  readonly leewayMs: number;
  /** Why the first login is made: the worker starts, or somebody asked for it. */
  readonly firstReason: LoginReason;
  /** How long one login may take, retries included. */
  readonly loginTimeoutMs: number;
  /** Ends whatever login is under way. */
  readonly signal: AbortSignal;
  /** Told of the end of each login, good or not. */
  readonly onSettled: () => void;
};

export function createKeptToken(options: KeptTokenOptions): KeptToken {
  const { clock, credentials, leewayMs } = options;
  const refusals = createRefusalBackoff(clock);
  const pace = createPace(options);
  let current: Token | undefined;
  let pending: Promise<Token> | undefined;
  let reason: LoginReason = options.firstReason;
  /** Logins in a row that gave a token which had expired already. */
  let bornDead = 0;

  const adopt = (token: Token): Token => {
    current = token;
    bornDead = isBornDead(token) ? bornDead + 1 : 0;
    reason = 'due';
    refusals.reset();
    pace.reset();
    return token;
  };
  const logIn = async (): Promise<Token> => {
    using deadline = startDeadline(options, options.loginTimeoutMs, options.signal);
    try {
      return adopt(await options.logIn(reason, deadline, credentials));
    } catch (error) {
      if (error instanceof CredentialsError) refusals.refuse(error, credentials.last());
      else pace.slowDown(error);
      throw error;
    }
  };

  return {
    current: () => current,
    logIn: () => {
      pending ??= logIn().finally(() => {
        pending = undefined;
        options.onSettled();
      });
      return pending;
    },
    discard: (token) => {
      if (token !== current) return;
      current = undefined;
      reason = 'rejected-token';
    },
    giveReason: (next) => {
      reason = next;
    },
    msUntilDue: () => {
      const dueMs = current === undefined ? 0 : msUntilDue(current, clock, leewayMs, bornDead);
      return Math.max(dueMs, refusals.leftMs(), pace.leftMs());
    },
    refusals,
    settled: async () => {
      await pending?.catch(() => undefined);
    },
  };
}
