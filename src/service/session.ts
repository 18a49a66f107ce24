import { isDeepStrictEqual } from 'node:util';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { CredentialsError, RunError } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';
import type { Clock } from '../time/clock.ts';
import { type CredentialFailure, createBackoff, createCredentialBackoff, type Resource } from './backoff.ts';
import type { LogIn, LoginReason } from './login.ts';
import { startDeadline } from './retry.ts';
import { hasExpired, hasExpiredOnArrival, msUntilDue, type Token } from './token.ts';

type SessionOptions = {
  readonly logIn: LogIn;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: () => number;
  readonly leewayMs: number;
  readonly loginTimeoutMs: number;
  readonly firstReason: LoginReason;
  /** Aborts the login in progress. */
  readonly signal: AbortSignal;
};

/** While `keepRenewed` waits, it checks this often whether a secret has changed or the clock was set. */
const RECHECK_MS = 10_000;

/** Holds the token and logs in to renew it before it expires. Does not depend on HTTP: `logIn` sends the request. */
export class Session {
  private readonly options: SessionOptions;
  private readonly credentialBackoff: ReturnType<typeof createCredentialBackoff>;
  /** Backoff after logins that failed with an error other than a CredentialsError. */
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
  /** Aborted to make `keepRenewed` recalculate its wait. */
  private wakeUp = new AbortController();

  constructor(options: SessionOptions) {
    const { clock, random, firstReason } = options;
    this.options = options;
    this.credentialBackoff = createCredentialBackoff(clock);
    this.renewalBackoff = createBackoff(clock, { random, initialMs: 1_000, maxMs: 300_000 });
    this.nextReason = firstReason;
  }

  current(): Token | undefined {
    return this.cached;
  }

  /**
   * Resolves to a token that the resource has not rejected; logs in if there is none (single flight). If `isTrial` is
   * true, the resource rejected a fresh token earlier, so another login would not help. Rejects with a CredentialsError
   * during the backoff after a CredentialsError, otherwise with the error of the login or the signal's reason. The
   * login is recorded with `runId`, unless another run asked for it before.
   */
  async token(resource: Resource, signal: AbortSignal, runId?: number | null) {
    signal.throwIfAborted();
    const blockedBy = this.blockedBy(resource);
    if (blockedBy !== undefined) throw blockedBy;
    if (this.isRejected(resource)) this.nextReason = 'rejected-token';
    const token = this.usableToken(resource) ?? (await unlessAborted(this.logIn(runId), signal));
    return { token, isTrial: this.rejected.has(resource) };
  }

  reportAccepted(resource: Resource): void {
    this.credentialBackoff.succeed(resource);
    this.rejected.delete(resource);
  }

  discard(token: Token): void {
    if (token !== this.cached) return;
    this.cached = undefined;
    this.nextReason = 'rejected-token';
  }

  /** Starts the backoff of a resource that has rejected even a fresh token. Returns `error`. */
  reportRejected(resource: Resource, token: Token, error: CredentialsError): CredentialsError {
    this.rejected.set(resource, token);
    this.credentialBackoff.fail(resource, error);
    return error;
  }

  blockedBy(resource: Resource): CredentialsError | undefined {
    const { credentialBackoff } = this;
    const isTokenNeeded = this.usableToken(resource) === undefined;
    return credentialBackoff.blockedBy(resource) ?? (isTokenNeeded ? credentialBackoff.blockedBy('login') : undefined);
  }

  credentialFailure(): CredentialFailure | undefined {
    return this.credentialBackoff.current();
  }

  /** Ends the waits after a CredentialsError; called on SIGHUP. */
  retryNow(): void {
    this.credentialBackoff.skipWaits();
    if (this.cached === undefined) this.nextReason = 'manual';
  }

  /** Renews the token when it is due, independently of polls, until the signal aborts. */
  async keepRenewed(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.wake(), { once: true });
    while (!signal.aborted) {
      const waitMs = this.msUntilRenewal();
      if (waitMs > 0) {
        const { clock } = this.options;
        await clock.sleep(Math.min(waitMs, RECHECK_MS), this.wakeUp.signal).catch(() => undefined);
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
      this.wake();
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
      if (error instanceof CredentialsError) this.credentialBackoff.fail('login', error);
      else this.renewalBackoff.fail(error instanceof RunError ? (error.notBefore ?? 0) - clock.now() : 0);
      throw error;
    }
    this.expiredOnArrival = hasExpiredOnArrival(this.cached) ? this.expiredOnArrival + 1 : 0;
    this.nextReason = 'due';
    this.credentialBackoff.succeed('login');
    this.renewalBackoff.reset();
    return this.cached;
  }

  private readCredentials(): CredentialPair {
    const before = this.lastCredentials;
    this.lastCredentials = undefined;
    this.lastCredentials = this.options.credentials.read();
    if (!isDeepStrictEqual(this.lastCredentials, before)) this.credentialBackoff.skipWaits();
    return this.lastCredentials;
  }

  private msUntilRenewal(): number {
    const { clock, leewayMs } = this.options;
    const dueMs = this.cached === undefined ? 0 : msUntilDue(this.cached, clock, leewayMs, this.expiredOnArrival);
    return Math.max(dueMs, this.credentialBackoff.remainingMs('login'), this.renewalBackoff.remainingMs());
  }

  private skipWaitsIfRotated(): void {
    const { credentialBackoff, lastCredentials, options } = this;
    if (credentialBackoff.current() === undefined) return;
    try {
      if (!isDeepStrictEqual(options.credentials.read(), lastCredentials)) credentialBackoff.skipWaits();
    } catch (error) {
      // A secret file may be unreadable while it is being replaced.
      if (!(error instanceof RunError)) throw error;
    }
  }

  private wake(): void {
    this.wakeUp.abort();
    this.wakeUp = new AbortController();
  }
}
