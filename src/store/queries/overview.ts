import type Database from 'better-sqlite3';
import { desc, eq, type SQL } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { withReader } from '../connection.ts';
import { assertSchemaCurrent } from '../migrate.ts';
import { logins, runs } from '../schema.ts';
import { createHoldRows, selectHeldRemovals } from '../tables/held-removals.ts';
import { createIdentity } from '../tables/identity.ts';
import { createLeagueRows } from '../tables/leagues.ts';
import { createLoginRows } from '../tables/logins.ts';
import { type RunKind, selectLastRetryAfter } from '../tables/runs.ts';
import { prepareAttention } from './attention.ts';
import { prepareOutputs } from './outputs.ts';

export type Freshness = {
  readonly last_success_at: string | null;
  readonly age_seconds: number | null;
  readonly last_outcome: string | null;
  readonly consecutive_failures: number;
  readonly live_leagues: number;
  readonly removed_leagues: number;
  readonly held_removals: number;
  readonly open_rejections: number;
  readonly stale_at: string | null;
};

export function prepareFreshness(client: Database.Database): () => Freshness {
  const select = client.prepare('SELECT * FROM freshness');
  return () => select.get() as Freshness;
}

export type Overview = ReturnType<typeof selectOverview>;

export function readOverview(path: string): Overview {
  return withReader(path, (client) => client.transaction(() => selectOverview(client))());
}

/** Runs several queries. Call this in a transaction, so that their results are consistent. */
export function selectOverview(client: Database.Database) {
  const db = drizzle({ client });
  const granted = selectLogin(db, eq(logins.outcome, 'ok'));
  return {
    freshness: prepareFreshness(client)(),
    attention: prepareAttention(client)(),
    last_runs: selectRuns(client, 10),
    last_login: summarize(selectLogin(db)),
    /** When the token of the last granted login expires, by the service's clock. */
    token_expires_at: granted?.expires_at ?? null,
    token_clock_skew_ms: granted?.clock_skew_ms ?? null,
    token_granted_at: granted?.at ?? null,
    held_removals: selectHeldRemovals(client),
    last_retry_after: selectLastRetryAfter(client),
    outputs: prepareOutputs(client)(),
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

function selectLogin(db: BetterSQLite3Database, isWanted?: SQL) {
  return db.select().from(logins).where(isWanted).orderBy(desc(logins.id)).limit(1).get();
}

function summarize(login: ReturnType<typeof selectLogin>) {
  return login && { at: login.at, outcome: login.outcome, error_message: login.error_message };
}

/** The stored state that a poll compares the received list with. */
export type Snapshot = {
  readonly leagues: Pick<ReturnType<typeof createLeagueRows>, 'index' | 'load' | 'joinedSince'>;
  readonly holds: Pick<ReturnType<typeof createHoldRows>, 'all'>;
  readonly identity: Pick<ReturnType<typeof createIdentity>, 'baseUrl'>;
  readonly logins: Pick<ReturnType<typeof createLoginRows>, 'lastingFailures'>;
};

/** Reads in one transaction. Throws a DatabaseError, for example if a newer program version wrote the database. */
export function readSnapshot<T>(path: string, read: (snapshot: Snapshot) => T): T {
  return withReader(path, (client) => {
    assertSchemaCurrent(client, path);
    const holds = createHoldRows(drizzle({ client }));
    const snapshot = {
      leagues: createLeagueRows(client),
      holds,
      identity: createIdentity(client),
      logins: createLoginRows(client),
    };
    return client.transaction(() => read(snapshot))();
  });
}

export function readLastRetryAfter(path: string, fingerprint: string): ReturnType<typeof selectLastRetryAfter> {
  return withReader(path, (client) => selectLastRetryAfter(client, fingerprint));
}
