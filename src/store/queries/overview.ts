import type Database from 'better-sqlite3';
import { and, desc, eq, ne, notInArray, type SQL } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { withReader } from '../connection.ts';
import { readMigrations, refuseOther } from '../migrate.ts';
import { logins, runs } from '../schema.ts';
import { createHoldRows, type HoldRows, selectHeldRemovals } from '../tables/held-removals.ts';
import { createLeagueRows, type LeagueRows } from '../tables/leagues.ts';
import { type RunKind, selectLastPause } from '../tables/runs.ts';

/** The row of the view of that name. */
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

export function prepareFreshness(client: Database.Database): () => Freshness {
  const select = client.prepare('SELECT * FROM freshness');
  return () => select.get() as Freshness;
}

/** What the database says of itself, for people and for scripts. */
export type Overview = ReturnType<typeof overviewOf>;

/** Reads the overview. Throws a DatabaseError where there is no database of this program. */
export function readOverview(path: string): Overview {
  return withReader(path, (client) => client.transaction(() => overviewOf(client))());
}

const LAST_RUNS = 10;

/** The overview, in the transaction of whoever reads. */
export function overviewOf(client: Database.Database) {
  const db = drizzle({ client });
  const granted = selectLogin(db, eq(logins.outcome, 'ok'));
  return {
    freshness: prepareFreshness(client)(),
    last_runs: selectRuns(client, LAST_RUNS),
    last_poll: selectLastPoll(db),
    last_login: summarize(selectLogin(db)),
    /** The last one that the service granted or refused; others failed before it came to that. */
    last_answered_login: summarize(selectLogin(db, ne(logins.outcome, 'failed'))),
    /** When the token of the last granted login expires, by the service's clock. */
    token_expires_at: granted?.expires_at ?? null,
    /** How far that clock was ahead of this machine's, as far as that login told. */
    token_clock_skew_ms: granted?.clock_skew_ms ?? null,
    /** When that login was. */
    token_granted_at: granted?.at ?? null,
    held_removals: selectHeldRemovals(client),
    last_pause: selectLastPause(db),
  };
}

export type RunSummary = ReturnType<typeof selectRuns>[number];

const { id, kind, trigger, started_at, finished_at, outcome, http_status, error_kind, error_message } = runs;
const { received, added, changed, restored, removed, unchanged, rejected, duplicates, held } = runs;
const COUNTS = { received, added, changed, restored, removed, unchanged, rejected, duplicates, held };
const SUMMARY = {
  id,
  kind,
  trigger,
  started_at,
  finished_at,
  outcome,
  http_status,
  ...COUNTS,
  error_kind,
  error_message,
};

/** The newest runs, newest first, of one kind or of all. */
export function selectRuns(client: Database.Database, limit: number, only?: RunKind) {
  const isWanted = only === undefined ? undefined : eq(kind, only);
  return drizzle({ client }).select(SUMMARY).from(runs).where(isWanted).orderBy(desc(id)).limit(limit).all();
}

/** The last poll of the leagues that came to an end of its own. */
function selectLastPoll(db: BetterSQLite3Database) {
  const hasEnded = notInArray(outcome, ['running', 'interrupted']);
  return db
    .select({ outcome, http_status, error_kind, error_message })
    .from(runs)
    .where(and(eq(kind, 'leagues'), hasEnded))
    .orderBy(desc(id))
    .limit(1)
    .get();
}

type Login = typeof logins.$inferSelect;
export type LoginSummary = Pick<Login, 'at' | 'outcome' | 'error_message'>;

/** The last login, or the last of which this is true. */
function selectLogin(db: BetterSQLite3Database, isWanted?: SQL): Login | undefined {
  return db.select().from(logins).where(isWanted).orderBy(desc(logins.id)).limit(1).get();
}

function summarize(login: Login | undefined): LoginSummary | undefined {
  return login && { at: login.at, outcome: login.outcome, error_message: login.error_message };
}

/** The database as somebody sees it who may not write: what a poll would start from, at one instant. */
export type Snapshot = {
  readonly leagues: Pick<LeagueRows, 'index' | 'load' | 'joinedSince'>;
  readonly holds: Pick<HoldRows, 'all'>;
};

/** Reads from one state of an existing database, whatever the worker writes meanwhile. Throws a DatabaseError. */
export function readSnapshot<T>(path: string, migrations: string, read: (snapshot: Snapshot) => T): T {
  return withReader(path, (client) => {
    refuseOther(client, readMigrations(migrations), path);
    const snapshot = { leagues: createLeagueRows(client), holds: createHoldRows(drizzle({ client })) };
    return client.transaction(() => read(snapshot))();
  });
}

/** The last pause that this service asked for. Throws a DatabaseError. */
export function readLastPause(path: string, fingerprint: string): ReturnType<typeof selectLastPause> {
  return withReader(path, (client) => selectLastPause(drizzle({ client }), fingerprint));
}
