import type Database from 'better-sqlite3';
import { desc, eq, type SQL } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { withReader } from '../connection.ts';
import { holdsDatabase } from '../database-file.ts';
import { assertSchemaCurrent, readMigrations, withEmptyDatabase } from '../migrate.ts';
import { logins, runs } from '../schema.ts';
import { createHoldRows, selectHeldRemovals } from '../tables/held-removals.ts';
import { createIdentity } from '../tables/identity.ts';
import { createLeagueRows } from '../tables/leagues.ts';
import { createLoginRows } from '../tables/logins.ts';
import type { OutputName, OutputRow } from '../tables/outputs.ts';
import { createRunRows, type RunKind, selectLastRetryAfter } from '../tables/runs.ts';

/** A row of the view `attention`. */
export type Attention = {
  readonly since: string | null;
  readonly what:
    | 'stale'
    | 'failing'
    | 'credentials-refused'
    | 'held-removals'
    | 'rejected-leagues'
    | 'drift'
    | 'interrupted'
    | 'unusual-change'
    | OutputName;
  readonly count: number | null;
  readonly summary: string;
  readonly what_to_do: string;
};

/** Whether the row only notes something, and leaves the verdict as it is. */
export const isNote = ({ what }: Attention): boolean => what === 'unusual-change';

export type Freshness = {
  readonly last_success_at: string | null;
  readonly age_seconds: number | null;
  readonly last_outcome: string | null;
  readonly consecutive_failures: number;
  readonly live_leagues: number;
  readonly listed_leagues: number;
  readonly removed_leagues: number;
  readonly held_removals: number;
  readonly open_rejections: number;
  readonly stale_at: string | null;
};

/** An output as `status`, the page, `/status.json` and the metrics show it. */
export type OutputStatus = Omit<OutputRow, 'refused' | 'fed_by'> & {
  /** How many changes it lacks; null for the copy. */
  readonly pending_changes: number | null;
  /** When the receiver of the webhook answered 410 (Gone). */
  readonly stopped_at: string | null;
};

const OUTPUTS = `SELECT name, label, outputs.seq, done_at, failed_attempts, failing_since, last_error, next_attempt_at,
    iif(name = 'copy', NULL, max(0, coalesce((SELECT max(seq) FROM league_changes), 0) - coalesce(outputs.seq, 0)))
      AS pending_changes,
    iif(name = 'webhook', (SELECT stopped_at FROM webhook), NULL) AS stopped_at
  FROM outputs ORDER BY name DESC`;

/** What the views and the outputs say. */
export function prepareStatus(client: Database.Database) {
  const attention = client.prepare<[], Attention>('SELECT * FROM attention');
  const freshness = client.prepare<[], Freshness>('SELECT * FROM freshness');
  const outputs = client.prepare<[], OutputStatus>(OUTPUTS);
  return {
    attention: (): readonly Attention[] => attention.all(),
    freshness: () => freshness.get() as Freshness,
    outputStatus: (): readonly OutputStatus[] => outputs.all(),
  };
}

export type Overview = ReturnType<typeof readOverview>;

export function readOverview(path: string, runs = LAST_RUNS) {
  return withReader(path, (client) => client.transaction(() => selectOverview(client, runs))());
}

const LAST_RUNS = 10;

function selectOverview(client: Database.Database, runs: number) {
  const granted = selectLogin(client, eq(logins.outcome, 'ok'));
  const { freshness, attention, outputStatus } = prepareStatus(client);
  return {
    freshness: freshness(),
    attention: attention(),
    ...selectLast(client, runs),
    /** When the token of the last granted login expires, by the service's clock. */
    token_expires_at: granted?.expires_at ?? null,
    token_clock_skew_ms: granted?.clock_skew_ms ?? null,
    token_granted_at: granted?.at ?? null,
    last_retry_after: selectLastRetryAfter(client),
    outputs: outputStatus(),
  };
}

/** What `status` and `/status.json` list. Call this in a transaction, so that it is consistent. */
export function selectLast(client: Database.Database, runs = LAST_RUNS) {
  const login = selectLogin(client);
  return {
    last_runs: selectRuns(client, runs),
    last_login: login && { at: login.at, outcome: login.outcome, error_message: login.error_message },
    held_removals: selectHeldRemovals(client),
  };
}

const { id, kind, trigger, started_at, finished_at, outcome, http_status, error_kind, error_message } = runs;
const { received, added, changed, restored, removed, unchanged, rejected, duplicates, held } = runs;
const RESULT = { outcome, http_status, error_kind, error_message };
const COUNTS = { received, added, changed, restored, removed, unchanged, rejected, duplicates, held };

export type RunSummary = ReturnType<typeof selectRuns>[number];

/** The newest runs, newest first. If `only` is given, only runs of that kind. */
export function selectRuns(client: Database.Database, limit: number, only?: RunKind) {
  return drizzle({ client })
    .select({ id, kind, trigger, started_at, finished_at, ...RESULT, ...COUNTS })
    .from(runs)
    .where(only && eq(kind, only))
    .orderBy(desc(id))
    .limit(limit)
    .all();
}

function selectLogin(client: Database.Database, isWanted?: SQL) {
  return drizzle({ client }).select().from(logins).where(isWanted).orderBy(desc(logins.id)).limit(1).get();
}

/** The stored state that a poll compares the received list with. */
export type Snapshot = ReturnType<typeof createRows>;

const createRows = (client: Database.Database) => ({
  leagues: createLeagueRows(client),
  holds: createHoldRows(drizzle({ client })),
  identity: createIdentity(client),
  logins: createLoginRows(client),
  runs: createRunRows(client),
});

/** Reads in one transaction; of no database, nothing. Throws a DatabaseError, for example if it is of a newer version. */
export function readSnapshot<T>(path: string, read: (snapshot: Snapshot) => T): T {
  const readRows = (client: Database.Database): T => client.transaction(() => read(createRows(client)))();
  if (!holdsDatabase(path)) return withEmptyDatabase(readMigrations(), readRows);
  return withReader(path, (client) => {
    assertSchemaCurrent(client, path);
    return readRows(client);
  });
}

export function readLastRetryAfter(path: string, fingerprint: string): ReturnType<typeof selectLastRetryAfter> {
  return withReader(path, (client) => selectLastRetryAfter(client, fingerprint));
}
