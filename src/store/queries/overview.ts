import type Database from 'better-sqlite3';
import { withReader } from '../connection.ts';
import { type HeldRemoval, selectHeldRemovals } from '../tables/acceptance.ts';
import type { RunKind } from '../tables/runs.ts';

/** What the database says of itself, for people and for scripts. */
export type Overview = {
  readonly freshness: Freshness;
  readonly last_runs: readonly RunSummary[];
  /** The last poll of the leagues that came to an end of its own. */
  readonly last_poll: Pick<RunSummary, 'outcome' | 'http_status' | 'error_kind' | 'error_message'> | undefined;
  readonly last_login: LoginSummary | undefined;
  /** The last one that the service granted or refused; others failed before it came to that. */
  readonly last_answered_login: LoginSummary | undefined;
  /** When the token of the last granted login expires, by the service's clock. */
  readonly token_expires_at: string | null;
  /** How far that clock was ahead of this machine's, as far as that login told. */
  readonly token_clock_skew_ms: number | null;
  /** When that login was. */
  readonly token_granted_at: string | null;
  readonly held_removals: readonly HeldRemoval[];
  /** The pause that was on when a service was last asked for anything, and since when it was. */
  readonly last_pause: { readonly until: string; readonly askedAt: string } | undefined;
};

export type Freshness = {
  readonly last_success_at: string | null;
  readonly age_seconds: number | null;
  readonly last_outcome: string | null;
  readonly consecutive_failures: number;
  readonly live_leagues: number;
  readonly removed_leagues: number;
  readonly held_removals: number;
  readonly open_rejections: number;
};

export type RunSummary = {
  readonly id: number;
  readonly kind: string;
  readonly trigger: string;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly outcome: string;
  readonly http_status: number | null;
  readonly received: number;
  readonly added: number;
  readonly changed: number;
  readonly restored: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly duplicates: number;
  readonly held: number;
  readonly error_kind: string | null;
  readonly error_message: string | null;
};

export type LoginSummary = { readonly at: string; readonly outcome: string; readonly error_message: string | null };

type Granted = {
  readonly at: string;
  readonly expires_at: string | null;
  readonly clock_skew_ms: number | null;
};

const LAST_RUNS = 10;
const LAST_GRANTED = "SELECT at, expires_at, clock_skew_ms FROM logins WHERE outcome = 'ok' ORDER BY id DESC LIMIT 1";
const LAST_POLL = `SELECT outcome, http_status, error_kind, error_message FROM runs
  WHERE kind = 'leagues' AND outcome NOT IN ('running', 'interrupted') ORDER BY id DESC LIMIT 1`;
const LAST_LOGIN = 'SELECT at, outcome, error_message FROM logins ORDER BY id DESC LIMIT 1';
const LAST_ANSWERED_LOGIN = `SELECT at, outcome, error_message FROM logins
  WHERE outcome IN ('ok', 'refused') ORDER BY id DESC LIMIT 1`;
/** Of the last run, or of the last login where there has been no run. */
const LAST_PAUSE = `SELECT until, askedAt FROM (
    SELECT * FROM (SELECT not_before AS until, started_at AS askedAt FROM runs ORDER BY id DESC LIMIT 1)
    UNION ALL SELECT * FROM (SELECT not_before, at FROM logins ORDER BY id DESC LIMIT 1)
    LIMIT 1) WHERE until IS NOT NULL`;

/** Reads the overview. Throws a DatabaseError where there is no database of this program. */
export function readOverview(path: string): Overview {
  return withReader(path, (db) => db.transaction(() => overviewOf(db))());
}

/** The newest runs, newest first, of one kind or of all. */
export function selectRuns(db: Database.Database, limit: number, kind?: RunKind): readonly RunSummary[] {
  return db
    .prepare<[object], RunSummary>(
      `SELECT id, kind, trigger, started_at, finished_at, outcome, http_status, received, added, changed, restored,
          removed, unchanged, rejected, duplicates, held, error_kind, error_message
        FROM runs WHERE @kind IS NULL OR kind = @kind ORDER BY id DESC LIMIT @limit`,
    )
    .all({ limit, kind: kind ?? null });
}

/** The overview, in the transaction of whoever reads. */
export function overviewOf(db: Database.Database): Overview {
  const one = <T>(sql: string): T | undefined => db.prepare<[], T>(sql).get();
  const granted = one<Granted>(LAST_GRANTED);
  return {
    freshness: one<Freshness>('SELECT * FROM freshness') as Freshness,
    last_runs: selectRuns(db, LAST_RUNS),
    last_poll: one<NonNullable<Overview['last_poll']>>(LAST_POLL),
    last_login: one<LoginSummary>(LAST_LOGIN),
    last_answered_login: one<LoginSummary>(LAST_ANSWERED_LOGIN),
    token_expires_at: granted?.expires_at ?? null,
    token_clock_skew_ms: granted?.clock_skew_ms ?? null,
    token_granted_at: granted?.at ?? null,
    held_removals: selectHeldRemovals(db),
    last_pause: one<NonNullable<Overview['last_pause']>>(LAST_PAUSE),
  };
}
