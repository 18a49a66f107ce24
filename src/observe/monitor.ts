import type { Clock } from '../clock.ts';
import type { StaleSettings } from '../config/config.ts';
import type { Schedule } from '../cron.ts';
import type { DatabaseError } from '../errors.ts';
import type { LoginRecord } from '../service/login.ts';
import type { Resource } from '../service/refusals.ts';
import type { Freshness } from '../store/queries/overview.ts';
import type { RunKind } from '../store/tables/runs.ts';
import type { Listener } from '../sync/events.ts';
import { createHealth, type Success } from './health.ts';
import { staleAge, type Verdict } from './verdict.ts';

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

/** Told of whatever happens in the worker; answers from memory and from a few counts in the database. */
export type Monitor = {
  readonly settings: Settings;
  /** When (ms) the worker began. */
  readonly startedAt: number;
  readonly open: (opening: Opening) => void;
  readonly note: Listener;
  readonly verdict: () => Verdict;
  /** What is wrong with the database files; undefined if nothing is, or until they are open. */
  readonly databaseFault: () => DatabaseError | undefined;
  /** The last good poll of the leagues. */
  readonly lastSuccess: () => Success | undefined;
  /** When (ms) the leagues, or the profile, were last brought up to date. */
  readonly lastSuccessAt: (kind?: RunKind) => number | undefined;
  /** Why the last poll of the leagues failed; undefined if it did not. */
  readonly lastError: () => string | undefined;
  /** Undefined until the database is open; so are the next ones. */
  readonly consecutiveFailures: () => number | undefined;
  readonly path: () => string | undefined;
  readonly present: () => Present | undefined;
  readonly counts: () => Counts | undefined;
  readonly lastLogin: () => LoginRecord | undefined;
  /** How far the service's clock was ahead of this one at the last login that told. */
  readonly clockSkewMs: () => number | undefined;
};

export function createMonitor(settings: Settings, clock: Clock): Monitor {
  let opening: Opening | undefined;
  let counted: Counts | undefined;
  let lastLogin: LoginRecord | undefined;
  let clockSkewMs: number | undefined;
  let lastProfileAt: number | undefined;
  const present = (): Present | undefined => opening?.present();
  const databaseFault = (): DatabaseError | undefined => opening?.fault();
  const counts = (): Counts | undefined => {
    try {
      counted = opening?.count() ?? counted;
    } catch {
      // What is wrong with the database is a fault; these are its last known counts.
    }
    return counted;
  };
  const health = createHealth({
    clock,
    staleAfterMs: (at) => staleAge(settings, at),
    refusal: () => {
      const refusal = present()?.refusal;
      // An account that may not read its profile has leagues that are as fresh as any.
      // And one whose token is good needs no file of secrets, until a poll fails for it.
      return refusal?.resource === 'profile' || refusal?.byService === false ? undefined : refusal;
    },
    databaseFault,
    issues: () => {
      const { held_removals: held = 0, open_rejections: rejected = 0 } = counts() ?? {};
      return { held, rejected };
    },
  });
  return {
    settings,
    startedAt: clock.now(),
    open: (found) => {
      opening = found;
      lastProfileAt = found.lastProfileAt;
      health.open(found.lastSuccessAt, found.consecutiveFailures);
    },
    note: (event) => {
      if (event.type === 'login') {
        lastLogin = event.login;
        clockSkewMs = event.login.clockSkewMs ?? clockSkewMs;
      } else if (event.type === 'runEnded') {
        const { kind, outcome } = event.report;
        health.noteRun(event.report);
        if (kind === 'profile' && outcome !== 'interrupted' && outcome !== 'failed') lastProfileAt = clock.now();
      }
    },
    verdict: health.verdict,
    databaseFault,
    lastSuccess: health.lastSuccess,
    lastSuccessAt: (kind = 'leagues') => (kind === 'leagues' ? health.lastSuccess()?.at : lastProfileAt),
    lastError: health.lastError,
    consecutiveFailures: health.failures,
    path: () => opening?.path,
    present,
    counts,
    lastLogin: () => lastLogin,
    clockSkewMs: () => clockSkewMs,
  };
}
