import { isDeepStrictEqual } from 'node:util';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { RunError } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';
import type { Clock } from '../time/clock.ts';
import { createWakeableSleep } from '../time/wakeable-sleep.ts';
import { createBackoff, createSessionBackoff, type Resource, type SessionFailure } from './backoff.ts';
import type { LogIn, LoginReason } from './login.ts';
import { startDeadline } from './retry.ts';
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

/** Holds the token and logs in to renew it before it expires. Does not depend on HTTP: `logIn` sends the request. */
export class Session {
  private readonly options: SessionOptions;
  private readonly backoff: ReturnType<typeof createSessionBackoff>;
  /** Backoff after logins that failed for a reason that may pass. */
  private readonly renewalBackoff: ReturnType<typeof createBackoff>;
  /** For each resource, the fresh token that it rejected last; deleted when the resource accepts a token. */
  private readonly rejected = new Map<Resource, Token>();
  private cached: Token | undefined;
  private pendingLogin: Promise<Token> | undefined;
  /** The run that first asked for the login in progress; null if none did. */
  private askedBy: number | null = null;
  private nextReason: LoginReason;
  /** The number of consecutive logins whose token had expired on arrival. */
  private expiredOnArrival = 0;
  /** The credentials of the last login; undefined before the first login or if the credentials could not be read. */
  private lastCredentials: CredentialPair | undefined;
  /** The wait of `keepRenewed`; woken up to be calculated anew. */
  private readonly sleeper: ReturnType<typeof createWakeableSleep>;

  constructor(options: SessionOptions) {
    const { clock, random, firstReason } = options;
    this.options = options;
    this.backoff = createSessionBackoff(clock);
    this.renewalBackoff = createBackoff(clock, { random, initialMs: 1_000, maxMs: 300_000 });
    this.nextReason = firstReason;
    this.sleeper = createWakeableSleep(clock);
  }

  current(): Token | undefined {
    return this.cached;
  }

  /**
   * Resolves to a token that the resource has not rejected; logs in if there is none (single flight). Rejects with the
   * error of the login, also during the wait for the next one, or with the signal's reason. The login is recorded with
   * `runId`, unless another run asked for it before.
   */
  async token(resource: Resource, signal: AbortSignal, runId?: number | null): Promise<Token> {
    signal.throwIfAborted();
    const blockedBy = this.blockedBy(resource);
    if (blockedBy !== undefined) throw blockedBy;
    if (this.isRejected(resource)) this.nextReason = 'rejected-token';
    return this.usableToken(resource) ?? (await unlessAborted(this.logIn(runId), signal));
  }

  /**
   * Whether another login may help after this error: no, if the resource rejected a fresh token earlier, or if a fresh
   * token did not end `result=fail` and the wait after that has not ended.
   */
  mayReplace(resource: Resource, { kind }: RunError): boolean {
    if (this.rejected.has(resource)) return false;
    return kind === 'credentials' || this.backoff.remainingMs(resource) === 0;
  }

  reportAccepted(resource: Resource): void {
    this.backoff.succeed(resource);
    this.rejected.delete(resource);
  }

  discard(token: Token): void {
    if (token !== this.cached) return;
    this.cached = undefined;
    this.nextReason = 'rejected-token';
  }

  /**
   * Starts the backoff of a resource to which even a fresh token gave no access. The token is kept, but no longer used
   * for the resource if that rejected it (a CredentialsError). Returns `error`.
   */
  reportRejected(resource: Resource, token: Token, error: RunError): RunError {
    if (error.kind === 'credentials') {
      this.rejected.set(resource, token);
      this.backoff.fail(resource, error);
    } else {
      this.rejected.delete(resource);
      if (this.backoff.remainingMs(resource) === 0) this.backoff.fail(resource);
    }
    return error;
  }

  blockedBy(resource: Resource): RunError | undefined {
    const { backoff, options } = this;
    if (options.barredBy !== undefined) return options.barredBy;
    const isTokenNeeded = this.usableToken(resource) === undefined;
    return backoff.blockedBy(resource) ?? (isTokenNeeded ? backoff.blockedBy('login') : undefined);
  }

  failure(): SessionFailure | undefined {
    return this.backoff.current();
  }

  /** Ends the waits for what only a person can correct; called on SIGHUP. */
  retryNow(): void {
    this.backoff.skipWaits();
    if (this.cached === undefined) this.nextReason = 'manual';
  }

  /** Renews the token when it is due, independently of polls, until the signal aborts. */
  async keepRenewed(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waitMs = this.msUntilRenewal();
      if (waitMs > 0) {
        await this.sleeper.sleep(Math.min(waitMs, RECHECK_MS), signal);
        this.skipWaitsIfRotated();
      } else {
        await this.logIn().catch(() => undefined);
      }
    }
  }

  /** Resolves when the login in progress, if any, has ended. */
  async settled(): Promise<void> {
    await this.pendingLogin?.catch(() => undefined);
  }

  private isRejected(resource: Resource): boolean {
    return this.cached !== undefined && this.cached === this.rejected.get(resource);
  }

  private usableToken(resource: Resource): Token | undefined {
    if (this.cached === undefined || hasExpired(this.cached, this.options.clock)) return undefined;
    return this.isRejected(resource) ? undefined : this.cached;
  }

  private logIn(runId: number | null = null): Promise<Token> {
    this.askedBy = this.pendingLogin === undefined ? runId : (this.askedBy ?? runId);
    this.pendingLogin ??= this.startLogin().finally(() => {
      this.pendingLogin = undefined;
      this.sleeper.wake();
    });
    return this.pendingLogin;
  }

  private async startLogin(): Promise<Token> {
    const { clock, logIn, loginTimeoutMs, signal } = this.options;
    using deadline = startDeadline(clock, loginTimeoutMs, signal);
    try {
      this.cached = await logIn(
        { reason: this.nextReason, runId: () => this.askedBy },
        { read: () => this.readCredentials() },
        deadline.signal,
      );
    } catch (error) {
      if (error instanceof RunError && isLasting(error)) this.backoff.fail('login', error);
      else this.renewalBackoff.fail(error instanceof RunError ? (error.notBefore ?? 0) - clock.now() : 0);
      throw error;
    }
    this.expiredOnArrival = hasExpiredOnArrival(this.cached) ? this.expiredOnArrival + 1 : 0;
    this.nextReason = 'due';
    this.backoff.succeed('login');
    this.renewalBackoff.reset();
    return this.cached;
  }

  private readCredentials(): CredentialPair {
    const before = this.lastCredentials;
    this.lastCredentials = undefined;
    this.lastCredentials = this.options.credentials.read();
    if (!isDeepStrictEqual(this.lastCredentials, before)) this.backoff.skipWaits();
    return this.lastCredentials;
  }

  private msUntilRenewal(): number {
    const { clock, leewayMs } = this.options;
    const dueMs = this.cached === undefined ? 0 : msUntilDue(this.cached, clock, leewayMs, this.expiredOnArrival);
    return Math.max(dueMs, this.backoff.remainingMs('login'), this.renewalBackoff.remainingMs());
  }

  private skipWaitsIfRotated(): void {
    const { backoff, lastCredentials, options } = this;
    if (backoff.current() === undefined) return;
    try {
      if (!isDeepStrictEqual(options.credentials.read(), lastCredentials)) backoff.skipWaits();
    } catch (error) {
      // A secret file may be unreadable while it is being replaced.
      if (!(error instanceof RunError)) throw error;
    }
  }
}

/** Whether a login failed in a way that trying again soon cannot help. */
function isLasting({ kind, retryable }: RunError): boolean {
  return !retryable && (kind === 'credentials' || kind === 'status' || kind === 'contract');
}
