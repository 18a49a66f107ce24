import type { Clock } from '../clock.ts';
import type { StaleSettings } from '../config/config.ts';
import type { Schedule } from '../cron.ts';
import { DatabaseError, type RunError } from '../errors.ts';
import type { Resource } from '../service/backoff.ts';
import type { LoginRecord } from '../service/login.ts';
import type { Freshness } from '../store/queries/overview.ts';
import type { RunKind } from '../store/tables/runs.ts';
import type { WorkerEvent } from '../sync/events.ts';
import type { RunReport } from '../sync/report.ts';
import { judge, type Situation, STARTING, staleAge, type Verdict } from './verdict.ts';

/** What the worker is set to do. */
export type Settings = {
  readonly version: string;
  /** The address of the service. */
  readonly service: string;
  readonly scope: 'all' | 'active' | 'inactive';
  readonly database: string;
  readonly profileSchedule: Schedule | 'off';
} & StaleSettings;

/** `resource` is what a fresh token was refused for; left out where it was the login. */
export type Refused = {
  readonly message: string;
  readonly until: number;
  readonly resource?: Resource | undefined;
  /** False if the credentials could not even be read. */
  readonly byService: boolean;
};

export type HeldToken = {
  /** By the service's clock, which was ahead of this machine's by `clockSkewMs` at the login. */
  readonly expiresAt: number | undefined;
  readonly clockSkewMs: number | undefined;
  /** Until it expires, whatever this machine's clock says; negative once it has, undefined if that is not known. */
  readonly leftMs: number | undefined;
};

/** Whether a token is held that has not expired; one whose end is not known serves until it is rejected. */
export function isValid(token: HeldToken | undefined): boolean {
  return token !== undefined && (token.leftMs === undefined || token.leftMs > 0);
}

/** What the worker is about, from memory. Instants in ms. */
export type Present = {
  readonly running: RunKind | undefined;
  /** Until when the service asked to be left alone; 0 where it did not. */
  readonly pausedUntil: number;
  readonly token: HeldToken | undefined;
  /** What the service refuses, and when it will be tried again. */
  readonly refusal: Refused | undefined;
};

/** How many rows there are of what people ask for. */
export type Counts = Pick<Freshness, 'live_leagues' | 'removed_leagues' | 'held_removals' | 'open_rejections'>;

/** What is known once the database is open. */
export type Opening = {
  /** When (ms) the leagues of the scope were last brought up to date. */
  readonly lastSuccessAt: number | undefined;
  /** When (ms) the profile was. */
  readonly lastProfileAt: number | undefined;
  /** Polls of the leagues that failed since the last good one. */
  readonly consecutiveFailures: number;
  /** Where the database is, links resolved. */
  readonly path: string;
  readonly present: () => Present;
  /** Counts in the database: what other programs accept or change there counts at once. */
  readonly count: () => Counts;
  /** Why nothing can be written to the database at present; undefined if it can. Looked for at each call. */
  readonly fault: () => DatabaseError | undefined;
};

/** When (ms) the leagues were last brought up to date, and how old (ms) that makes the data. */
export type Success = { readonly at: number; readonly ageMs: number };

type Mark = {
  readonly at: number;
  /** The same on the monotonic clock: before this process began, as the wall clock said at its beginning. */
  readonly monotonicAt: number;
  /** Found when it is first asked for: finding slots of a rare schedule takes long. */
  staleAfterMs?: number;
};

/** What is known of the worker: from its events, and from a few counts in the database. */
export class Monitor {
  readonly settings: Settings;
  /** When (ms) the worker began. */
  readonly startedAt: number;
  private readonly clock: Clock;
  /** Undefined until the database is open. */
  private opening: Opening | undefined;
  private failures = 0;
  private success: Mark | undefined;
  private lastProfileAt: number | undefined;
  private lastFailure: RunError | undefined;
  private login: LoginRecord | undefined;
  private skewMs: number | undefined;
  private counted: Counts | undefined;

  constructor(settings: Settings, clock: Clock) {
    this.settings = settings;
    this.clock = clock;
    this.startedAt = clock.now();
  }

  open(opening: Opening): void {
    this.opening = opening;
    this.failures = opening.consecutiveFailures;
    this.lastProfileAt = opening.lastProfileAt;
    if (opening.lastSuccessAt !== undefined) this.succeed(opening.lastSuccessAt);
  }

  note(event: WorkerEvent): void {
    if (event.type === 'runEnded') this.noteRun(event.report);
    if (event.type !== 'login') return;
    this.login = event.login;
    this.skewMs = event.login.clockSkewMs ?? this.skewMs;
  }

  private noteRun({ kind, outcome, error, finishedAt }: RunReport): void {
    if (outcome === 'interrupted') return;
    const isGood = outcome !== 'failed';
    if (kind === 'profile') {
      if (isGood) this.lastProfileAt = this.clock.now();
      return;
    }
    this.lastFailure = error;
    this.failures = isGood ? 0 : this.failures + 1;
    if (isGood) this.succeed(finishedAt === undefined ? this.clock.now() : Date.parse(finishedAt));
  }

  private succeed(at: number): void {
    const ageMs = Math.max(0, this.clock.now() - at);
    this.success = { at, monotonicAt: this.clock.monotonic() - ageMs };
  }

  /** Whether the data is fresh, and what stands against it. */
  verdict(): Verdict {
    if (this.opening === undefined) return STARTING;
    const { held_removals: held = 0, open_rejections: rejected = 0 } = this.counts() ?? {};
    return judge({
      success: this.successWithLimit(),
      refused: this.refusal() ?? refusedBy(this.lastFailure),
      databaseFault: this.databaseFault() ?? this.standingFault(),
      failures: this.failures,
      lastError: this.lastFailure,
      held,
      rejected,
    });
  }

  private successWithLimit(): Situation['success'] {
    const { success } = this;
    if (success === undefined) return undefined;
    success.staleAfterMs ??= staleAge(this.settings, success.at);
    return { at: success.at, ageMs: this.ageOf(success), staleAfterMs: success.staleAfterMs };
  }

  /** A clock that was set back makes nothing young. */
  private ageOf({ at, monotonicAt }: Mark): number {
    return Math.max(this.clock.now() - at, this.clock.monotonic() - monotonicAt);
  }

  /** What the service refuses at present, if the leagues need it. */
  private refusal(): Situation['refused'] {
    const refusal = this.present()?.refusal;
    // An account that may not read its profile has leagues that are as fresh as any. And a worker whose token is good
    // needs no file of secrets, until a poll fails for it.
    return refusal?.resource === 'profile' || refusal?.byService === false ? undefined : refusal;
  }

  /** What only the next poll can tell to be over. Whether the files are gone or locked is seen at any time. */
  private standingFault(): DatabaseError | undefined {
    const error = this.lastFailure;
    return error instanceof DatabaseError && !error.busy && !error.gone ? error : undefined;
  }

  /** What is wrong with the database files; undefined if nothing is, or until they are open. */
  databaseFault(): DatabaseError | undefined {
    return this.opening?.fault();
  }

  /** The last good poll of the leagues; undefined if there was none. */
  lastSuccess(): Success | undefined {
    return this.success && { at: this.success.at, ageMs: this.ageOf(this.success) };
  }

  /** When (ms) the leagues, or the profile, were last brought up to date. */
  lastSuccessAt(kind: RunKind): number | undefined {
    return kind === 'leagues' ? this.success?.at : this.lastProfileAt;
  }

  /** Why the last poll of the leagues failed; undefined if it did not. */
  lastError(): string | undefined {
    return this.lastFailure?.message;
  }

  /** Polls of the leagues that failed since the last good one; undefined until the database is open. */
  consecutiveFailures(): number | undefined {
    return this.opening && this.failures;
  }

  /** Where the database is, links resolved; undefined until it is open. */
  path(): string | undefined {
    return this.opening?.path;
  }

  present(): Present | undefined {
    return this.opening?.present();
  }

  counts(): Counts | undefined {
    try {
      this.counted = this.opening?.count() ?? this.counted;
    } catch {
      // What is wrong with the database is a fault; these are its last known counts.
    }
    return this.counted;
  }

  lastLogin(): LoginRecord | undefined {
    return this.login;
  }

  /** How far the service's clock was ahead of this one at the last login that told. */
  clockSkewMs(): number | undefined {
    return this.skewMs;
  }
}

/** If no answer of the service is the reason, a file of secrets cannot be read. */
function refusedBy(error: RunError | undefined): Situation['refused'] {
  if (error?.kind !== 'credentials') return undefined;
  return { message: error.message, byService: error.httpStatus !== undefined };
}
