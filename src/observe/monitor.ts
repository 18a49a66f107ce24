import type { Config, StaleSettings } from '../config/config.ts';
import { DatabaseError, type RunError } from '../errors.ts';
import { findPackage } from '../package.ts';
import type { LoginRecord } from '../service/login.ts';
import type { RetryAfter } from '../service/retry-after.ts';
import type { Session } from '../service/session.ts';
import { msUntilExpiry } from '../service/token.ts';
import { withOwnSnapshot } from '../store/connection.ts';
import type { Freshness } from '../store/queries/overview.ts';
import type { Store } from '../store/store.ts';
import type { RunKind } from '../store/tables/runs.ts';
import type { Listener } from '../sync/report.ts';
import type { Clock } from '../time/clock.ts';
import { assess, type HealthInput, STARTING, staleAge, type Verdict } from './verdict.ts';

/** Settings without secrets. */
export type PublicSettings = Pick<Config, 'baseUrl' | 'scope' | 'database' | 'profileSchedule'> & StaleSettings;

export type MonitorSources = {
  readonly store: Store;
  readonly session: Session;
  readonly retryAfter: RetryAfter;
  readonly running: () => RunKind | undefined;
};

/** What the worker holds in memory. Timestamps are in ms. */
export type LiveState = NonNullable<ReturnType<Monitor['liveState']>>;

type SuccessTime = {
  readonly at: number;
  readonly monotonicAt: number;
  /** Calculated on demand, since the next times of a rare schedule take long to find. */
  staleAfterMs?: number;
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
  private lastCounts: Freshness | undefined;

  constructor(settings: PublicSettings, clock: Clock) {
    this.settings = settings;
    this.clock = clock;
    this.startedAt = clock.now();
  }

  open(sources: MonitorSources): void {
    const { store } = sources;
    this.sources = sources;
    const { last_success_at, consecutive_failures } = store.read(store.freshness);
    const profileAt = store.read(() => store.runs.lastSuccess('profile', null))?.finished_at;
    this.failures = consecutive_failures;
    if (profileAt) this.lastProfileAt = Date.parse(profileAt);
    if (last_success_at !== null) this.succeed(Date.parse(last_success_at));
  }

  readonly onEvent: Listener = (event) => {
    if (event.type === 'login') {
      this.lastLogin = event.login;
      this.clockSkewMs = event.login.clockSkewMs ?? this.clockSkewMs;
    }
    if (event.type !== 'runEnded' || event.report.outcome === 'interrupted') return;
    const { kind, outcome, error, finishedAt } = event.report;
    const isGood = outcome !== 'failed';
    const at = finishedAt === undefined ? this.clock.now() : Date.parse(finishedAt);
    if (kind === 'profile') this.lastProfileAt = isGood ? at : this.lastProfileAt;
    else {
      this.lastFailure = error;
      this.failures = isGood ? 0 : this.failures + 1;
      if (isGood) this.succeed(at);
    }
  };

  private succeed(at: number): void {
    const ageMs = Math.max(0, this.clock.now() - at);
    this.success = { at, monotonicAt: this.clock.monotonic() - ageMs };
  }

  verdict(): Verdict {
    if (this.sources === undefined) return STARTING;
    const error = this.lastFailure;
    // `writeError` reports locked, deleted and replaced files. Other database errors count until the next poll ends.
    const standing = error instanceof DatabaseError && !error.busy && !error.gone ? error : undefined;
    const { held_removals: held = 0, open_rejections: rejected = 0 } = this.counts() ?? {};
    return assess({
      success: this.lastSuccess(),
      refused: this.refused(),
      databaseFault: this.sources.store.writeError() ?? standing,
      failures: this.failures,
      lastError: error,
      held,
      rejected,
    });
  }

  /** Ignores a forbidden profile, and ignores an unreadable secret file until a poll fails because of it. */
  private refused(): HealthInput['refused'] {
    const refusal = this.sources?.session.credentialFailure();
    const isOfLeagues = refusal?.subject !== 'profile' && refusal?.error.httpStatus !== undefined;
    const error = isOfLeagues ? refusal?.error : this.lastFailure;
    if (error?.kind !== 'credentials') return undefined;
    return { message: error.message, byService: error.httpStatus !== undefined };
  }

  lastSuccess(): HealthInput['success'] {
    const { success, clock } = this;
    if (success === undefined) return undefined;
    success.staleAfterMs ??= staleAge(this.settings, success.at);
    // Data does not get younger if the clock is set back.
    const ageMs = Math.max(clock.now() - success.at, clock.monotonic() - success.monotonicAt);
    return { at: success.at, ageMs, staleAfterMs: success.staleAfterMs };
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
      refusal: session.credentialFailure(),
      /** Whether rejected credentials keep the leagues from being polled now. */
      isBlocked: session.blockedBy('leagues') !== undefined,
    };
  }

  counts(): Freshness | undefined {
    try {
      this.lastCounts = this.sources?.store.read(this.sources.store.freshness) ?? this.lastCounts;
    } catch {
      // The last known counts remain. If polls fail as well, `verdict` reports their error.
    }
    return this.lastCounts;
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
