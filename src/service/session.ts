import type { Clock } from '../clock.ts';
import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { CredentialsError, RunError } from '../errors.ts';
import { unlessAborted } from '../race-abort.ts';
import { type Backoff, createBackoff, type Refusal, Refusals, type Resource } from './backoff.ts';
import type { LogIn, LoginReason } from './login.ts';
import { startDeadline } from './retry.ts';
import { hasExpired, hasExpiredOnArrival, msUntilDue, type Token } from './token.ts';

/** A token for a request. */
export type Grant = {
  readonly token: Token;
  /** The resource rejected the last fresh token, and has taken none since: a better one is not to be had. */
  readonly isTrial: boolean;
};

export type SessionOptions = {
  readonly logIn: LogIn;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: () => number;
  readonly leewayMs: number;
  /** How long one login may take. */
  readonly loginTimeoutMs: number;
  /** Why the first login is made: the worker starts, or an operator asked for it. */
  readonly firstReason: LoginReason;
  /** Ends the login that is under way. */
  readonly signal: AbortSignal;
};

/** After logins that failed the session tries by itself; polls that need a token ask for one sooner. */
const RENEWAL_WAITS = { firstMs: 1_000, longestMs: 300_000 } as const;
/** How often a rotated secret and a clock step are looked for. */
const LOOK_AGAIN_MS = 10_000;

/** A cached login, renewed before it expires. It knows nothing of HTTP. */
export class Session {
  private readonly options: SessionOptions;
  private readonly refusals: Refusals;
  private readonly failures: Backoff;
  /** The fresh token that a resource rejected, until it takes another one. */
  private readonly rejected = new Map<Resource, Token>();
  private held: Token | undefined;
  private pending: Promise<Token> | undefined;
  private nextReason: LoginReason;
  /** Logins in a row that gave a token which had expired already. */
  private expiredOnArrival = 0;
  /** What the last login was made with, if it could be read. */
  private lastPair: CredentialPair | undefined;
  /** Aborts when the renewal has to look again before its wait is over. */
  private awake = new AbortController();

  constructor(options: SessionOptions) {
    const { clock, random, firstReason } = options;
    this.options = options;
    this.refusals = new Refusals(clock);
    this.failures = createBackoff({ clock, random, ...RENEWAL_WAITS });
    this.nextReason = firstReason;
  }

  current(): Token | undefined {
    return this.held;
  }

  /**
   * A token that the resource has not rejected, logging in if there is none; one login at a time. Rejects with a
   * CredentialsError during a wait after a refusal, and else with the error of the login, or the signal's reason.
   */
  async token(resource: Resource, signal: AbortSignal): Promise<Grant> {
    signal.throwIfAborted();
    const refusal = this.blockedBy(resource);
    if (refusal !== undefined) throw refusal;
    if (this.isRejected(resource)) this.nextReason = 'rejected-token';
    const token = this.usable(resource) ?? (await unlessAborted(this.logIn(), signal));
    return { token, isTrial: this.rejected.has(resource) };
  }

  /** The service took a request for the resource with a token of this session. */
  accept(resource: Resource): void {
    this.refusals.end(resource);
    this.rejected.delete(resource);
  }

  /** The service rejected this token: it is not given again. */
  discard(token: Token): void {
    if (token !== this.held) return;
    this.held = undefined;
    this.nextReason = 'rejected-token';
  }

  /** The resource rejected a fresh token too: logging in for it must wait. Gives the error back. */
  reportRejected(resource: Resource, token: Token, error: CredentialsError): CredentialsError {
    this.rejected.set(resource, token);
    this.refusals.add(resource, error, this.lastPair);
    return error;
  }

  /** What speaks against asking for this resource now. */
  blockedBy(resource: Resource): CredentialsError | undefined {
    const { refusals } = this;
    return refusals.blockedBy(resource) ?? (this.usable(resource) ? undefined : refusals.blockedBy('login'));
  }

  /** What is refused at present. */
  refusal(): Refusal | undefined {
    return this.refusals.current();
  }

  /** Forgets any wait after a refusal (SIGHUP). */
  retryNow(): void {
    this.refusals.skipWaits();
    if (this.held === undefined) this.nextReason = 'manual';
  }

  /** Renews the token before it expires, near a poll or not, until the signal aborts. */
  async keepRenewed(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.wake(), { once: true });
    while (!signal.aborted) {
      const waitMs = this.msUntilRenewal();
      if (waitMs > 0) {
        const { clock } = this.options;
        await clock.sleep(Math.min(waitMs, LOOK_AGAIN_MS), this.awake.signal).catch(() => undefined);
        this.skipWaitsIfRotated();
      } else {
        await this.logIn().catch(() => undefined);
      }
    }
  }

  /** Settles when no login is under way. */
  async settled(): Promise<void> {
    await this.pending?.catch(() => undefined);
  }

  private isRejected(resource: Resource): boolean {
    return this.held !== undefined && this.held === this.rejected.get(resource);
  }

  private usable(resource: Resource): Token | undefined {
    const isUsable = this.held && !hasExpired(this.held, this.options.clock) && !this.isRejected(resource);
    return isUsable ? this.held : undefined;
  }

  /** The login that is under way, or a new one. */
  private logIn(): Promise<Token> {
    this.pending ??= this.logInAnew().finally(() => {
      this.pending = undefined;
      this.wake();
    });
    return this.pending;
  }

  private async logInAnew(): Promise<Token> {
    const { clock, logIn, loginTimeoutMs, signal } = this.options;
    using deadline = startDeadline(this.options, loginTimeoutMs, signal);
    try {
      this.held = await logIn(this.nextReason, { read: () => this.readPair() }, deadline.signal);
    } catch (error) {
      if (error instanceof CredentialsError) this.refusals.add('login', error, this.lastPair);
      else this.failures.fail(error instanceof RunError ? (error.notBefore ?? 0) - clock.now() : 0);
      throw error;
    }
    this.expiredOnArrival = hasExpiredOnArrival(this.held) ? this.expiredOnArrival + 1 : 0;
    this.nextReason = 'due';
    this.refusals.end('login');
    this.failures.reset();
    return this.held;
  }

  private readPair(): CredentialPair {
    this.lastPair = undefined;
    this.lastPair = this.options.credentials.read();
    return this.lastPair;
  }

  private msUntilRenewal(): number {
    const { clock, leewayMs } = this.options;
    const dueMs = this.held === undefined ? 0 : msUntilDue(this.held, clock, leewayMs, this.expiredOnArrival);
    return Math.max(dueMs, this.refusals.leftMs('login'), this.failures.leftMs());
  }

  private skipWaitsIfRotated(): void {
    if (this.refusals.current() === undefined) return;
    try {
      this.refusals.skipWaits(this.options.credentials.read());
    } catch (error) {
      // They cannot be read at present.
      if (!(error instanceof RunError)) throw error;
    }
  }

  private wake(): void {
    this.awake.abort();
    this.awake = new AbortController();
  }
}
