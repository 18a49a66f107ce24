import type { Config } from '../config/config.ts';
import { DatabaseError, type RunError } from '../errors.ts';
import type { Listener } from '../events.ts';
import type { RetryAfter } from '../http/retry-after.ts';
import { findPackage } from '../package.ts';
import type { LoginRecord } from '../service/login.ts';
import type { Session } from '../service/session.ts';
import { msUntilExpiry } from '../service/token.ts';
import { withOwnSnapshot } from '../store/connection.ts';
import type { Attention } from '../store/queries/attention.ts';
import type { OutputStatus } from '../store/queries/outputs.ts';
import type { Freshness } from '../store/queries/overview.ts';
import type { Store } from '../store/store.ts';
import type { RunKind } from '../store/tables/runs.ts';
import type { Clock } from '../time/clock.ts';
import { assess, type HealthInput, STARTING, type Verdict } from './verdict.ts';

/** Settings without secrets. */
export type PublicSettings = Pick<Config, 'baseUrl' | 'scope' | 'database' | 'schedule' | 'profileSchedule'>;

export type MonitorSources = {
  readonly store: Store;
  readonly session: Session;
  readonly retryAfter: RetryAfter;
  readonly running: () => RunKind | undefined;
};

/** What the worker holds in memory. Timestamps are in ms. */
export type LiveState = NonNullable<ReturnType<Monitor['liveState']>>;

/** `at` and `staleAt` are by the wall clock, the others by the monotonic clock. */
type SuccessTime = {
  readonly at: number;
  readonly staleAt: number;
  readonly monotonicAt: number;
  readonly monotonicStaleAt: number;
};

type Stored = {
  readonly freshness: Freshness;
  readonly attention: readonly Attention[];
  readonly outputs: readonly OutputStatus[];
};

/** Reads from a snapshot of the database. Throws a DatabaseError if the database cannot be read. */
export type Read = <T>(work: Parameters<typeof withOwnSnapshot<T>>[1]) => T;

/** The state of the worker, derived from its events and a few counts in the database. */
export class Monitor {
  readonly settings: PublicSettings;
  readonly version = findPackage().version;
  /** Timestamp (ms) of the start of the worker. */
  readonly startedAt: number;
  private readonly clock: Clock;
  private sources: MonitorSources | undefined;
  private failures = 0;
  private success: SuccessTime | undefined;
  /** When (ms) the last good poll of the profile ended. */
  lastProfileAt: number | undefined;
  /** The error of the last poll of the leagues, if it failed. */
  lastFailure: RunError | undefined;
  lastLogin: LoginRecord | undefined;
  /** How far (ms) the service's clock was ahead at the last login whose response had a `Date` header. */
  clockSkewMs: number | undefined;
  private lastStored: Stored | undefined;
  /** Whether `lastStored` was read in this turn of the event loop. A page asks for it a dozen times. */
  private isCurrent = false;

  constructor(settings: PublicSettings, clock: Clock) {
    this.settings = settings;
    this.clock = clock;
    this.startedAt = clock.now();
  }

  open(sources: MonitorSources): void {
    const { store } = sources;
    this.sources = sources;
    const { last_success_at, stale_at, consecutive_failures } = store.read(store.freshness);
    const profileAt = store.read(() => store.runs.lastProfile())?.finished_at;
    this.failures = consecutive_failures;
    if (profileAt) this.lastProfileAt = Date.parse(profileAt);
    if (last_success_at !== null) this.succeed(last_success_at, stale_at);
  }

  readonly onEvent: Listener = (event) => {
    if (event.type === 'login') {
      this.lastLogin = event.login;
      this.clockSkewMs = event.login.clockSkewMs ?? this.clockSkewMs;
    }
    if (event.type !== 'runEnded' || event.report.outcome === 'interrupted') return;
    const { kind, outcome, error, finishedAt, staleAt } = event.report;
    if (kind === 'profile') this.lastProfileAt = finishedAt === undefined ? this.lastProfileAt : Date.parse(finishedAt);
    else {
      this.lastFailure = error;
      this.failures = outcome === 'failed' ? this.failures + 1 : 0;
      if (finishedAt !== undefined) this.succeed(finishedAt, staleAt ?? null);
    }
  };

  private succeed(finishedAt: string, staleAtText: string | null): void {
    const [now, monotonic] = [this.clock.now(), this.clock.monotonic()];
    const at = Date.parse(finishedAt);
    const staleAt = staleAtText === null ? Number.POSITIVE_INFINITY : Date.parse(staleAtText);
    // If the clock was set back after the poll, both timestamps lie in the future.
    const leftMs = staleAt - (at > now && staleAt > at ? at : now);
    const monotonicAt = monotonic - Math.max(0, now - at);
    this.success = { at, staleAt, monotonicAt, monotonicStaleAt: monotonic + leftMs };
  }

  verdict(): Verdict {
    if (this.sources === undefined) return STARTING;
    const error = this.lastFailure;
    // `writeError` reports locked, deleted and replaced files. Other database errors count until the next poll ends.
    const standing = error instanceof DatabaseError && !error.busy && !error.gone ? error : undefined;
    return assess({
      attention: this.attention(),
      staleness: this.staleness(),
      refused: this.refused(),
      databaseFault: this.sources.store.writeError() ?? standing,
      leagues: this.counts()?.live_leagues,
    });
  }

  private staleness(): HealthInput['staleness'] {
    const { success, clock } = this;
    if (success === undefined) return this.failures === 0 ? 'loading' : 'never';
    const isStale = clock.now() >= success.staleAt || clock.monotonic() >= success.monotonicStaleAt;
    return isStale ? this.lastSuccess() : undefined;
  }

  /** Ignores a forbidden profile, and ignores an unreadable secret file until a poll fails because of it. */
  private refused(): HealthInput['refused'] {
    const refusal = this.sources?.session.failure();
    const isOfLeagues = refusal?.subject !== 'profile' && refusal?.error.httpStatus !== undefined;
    const error = isOfLeagues ? refusal?.error : this.lastFailure;
    if (error?.kind !== 'credentials') return undefined;
    return { message: error.message, byService: error.httpStatus !== undefined };
  }

  lastSuccess(): { readonly at: number; readonly ageMs: number } | undefined {
    const { success, clock } = this;
    if (success === undefined) return undefined;
    // Data does not get younger if the clock is set back.
    return { at: success.at, ageMs: Math.max(clock.now() - success.at, clock.monotonic() - success.monotonicAt) };
  }

  consecutiveFailures(): number | undefined {
    return this.sources && this.failures;
  }

  /** The path of the database with symbolic links resolved; undefined until the database is open. */
  path(): string | undefined {
    return this.sources?.store.path;
  }

  liveState() {
    if (this.sources === undefined) return undefined;
    const { session, retryAfter, running } = this.sources;
    const token = session.current();
    const leftMs = token && msUntilExpiry(token, this.clock);
    return {
      running: running(),
      /** When the current Retry-After ends; 0 if there is none. */
      pausedUntil: retryAfter.until(),
      /** `leftMs` is undefined if the expiry is unknown. */
      token: token && {
        expiresAt: token.expiresAt,
        clockSkewMs: token.clockSkewMs,
        leftMs,
        isValid: leftMs === undefined || leftMs > 0,
      },
      /** What keeps the session from being tried before a wait ends. */
      failure: session.failure(),
      /** Whether that keeps the leagues from being polled now. */
      isBlocked: session.blockedBy('leagues') !== undefined,
    };
  }

  counts(): Freshness | undefined {
    return this.stored()?.freshness;
  }

  /** The rows of the view `attention`; empty until the database is open. */
  attention(): readonly Attention[] {
    return this.stored()?.attention ?? [];
  }

  /** What follows the database; empty until it is open. */
  outputs(): readonly OutputStatus[] {
    return this.stored()?.outputs ?? [];
  }

  private stored(): Stored | undefined {
    const store = this.sources?.store;
    if (store === undefined || this.isCurrent) return this.lastStored;
    this.isCurrent = true;
    setImmediate(() => {
      this.isCurrent = false;
    });
    try {
      this.lastStored = store.read(() => ({
        freshness: store.freshness(),
        attention: store.attention(),
        outputs: store.outputStatus(),
      }));
    } catch {
      // The last known rows remain. If polls fail as well, `verdict` reports their error.
    }
    return this.lastStored;
  }

  /** Opens its own connection. Throws if the worker's files are gone, since another database may be at their path. */
  readonly read: Read = (work) => {
    if (this.sources === undefined) throw new DatabaseError('The database is not open yet.');
    const { path, writeError } = this.sources.store;
    const found = writeError();
    if (found?.gone) throw found;
    return withOwnSnapshot(path, work);
  };
}
