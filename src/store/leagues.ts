import type Database from 'better-sqlite3';
import { eq, sql } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { LEAGUE_MEMBERS, type League } from '../league.ts';
import type { FieldType, FieldValue, JsonText } from '../record.ts';
import type { RunScope, Sighting } from './runs.ts';
import { leagueChanges, leagues } from './schema.ts';

/** What has to be known of every stored league to tell whether it differs. */
export type StoredLeague = { readonly hash: string; readonly removed: boolean; readonly status: string };

/** One row of the change feed, but for its `seq`. */
export type Change = Sighting & {
  readonly leagueId: string;
  readonly kind: 'added' | 'changed' | 'removed' | 'restored';
  readonly before: JsonText | null;
  readonly after: JsonText | null;
};

/** The rows of `leagues` and of the change feed. Whoever writes owns the transaction. */
export type LeagueRows = {
  readonly index: () => ReadonlyMap<string, StoredLeague>;
  /** The whole league. Throws where there is none of that id. */
  readonly load: (leagueId: string) => League;
  /** The leagues that were not listed in this scope just before the instant, and have changed since. */
  readonly joinedSince: (at: string, scope: RunScope) => ReadonlySet<string>;
  /** Inserts or updates by `league_id`; the row is listed afterwards. */
  readonly upsert: (league: League, hash: string, at: string) => void;
  readonly remove: (leagueId: string, at: string) => void;
  /** Notes that the same content has another hash (another version of the program wrote it). */
  readonly rehash: (leagueId: string, hash: string) => void;
  readonly append: (change: Change) => void;
};

type Row = Readonly<Record<string, string | number | bigint | null>>;

export function createLeagueRows(client: Database.Database, db: BetterSQLite3Database): LeagueRows {
  const selectIndex = db
    .select({
      id: leagues.league_id,
      hash: leagues.content_hash,
      removedAt: leagues.removed_at,
      status: leagues.status,
    })
    .from(leagues)
    .prepare();
  // Raw, because drizzle cannot ask for BigInt, and an integer of more than 53 bits would lose its last digits.
  const selectOne = client.prepare<[string], Row>('SELECT * FROM leagues WHERE league_id = ?').safeIntegers(true);
  const selectJoined = client.prepare<[object], string>(JOINED_SINCE).pluck();
  const upsert = prepareUpsert(db);
  const remove = prepareRemove(db);
  const rehash = db
    .update(leagues)
    .set({ content_hash: sql`${sql.placeholder('hash')}` })
    .where(eq(leagues.league_id, sql.placeholder('league_id')))
    .prepare();
  const append = prepareAppend(db);

  return {
    index: () =>
      new Map(
        selectIndex.all().map(({ id, hash, removedAt, status }) => [id, { hash, removed: removedAt !== null, status }]),
      ),
    load: (leagueId) => {
      const row = selectOne.get(leagueId);
      if (row === undefined) throw new Error(`There is no league ${leagueId} in the database.`);
      return toLeague(row);
    },
    joinedSince: (at, scope) => new Set(selectJoined.all({ at, scope })),
    upsert: (league, hash, at) => {
      upsert.run({ ...toColumns(league), content_hash: hash, at });
    },
    remove: (leagueId, at) => {
      remove.run({ league_id: leagueId, at });
    },
    rehash: (leagueId, hash) => {
      rehash.run({ league_id: leagueId, hash });
    },
    append: ({ runId, at, leagueId, kind, before, after }) => {
      append.run({ run_id: runId, at, league_id: leagueId, kind, before, after });
    },
  };
}

/** The first change since then tells what was before. Beside `min`, SQLite gives the other columns of that same row. */
const JOINED_SINCE = `SELECT league_id FROM (
    SELECT league_id, kind, before, min(seq) FROM league_changes WHERE at >= @at GROUP BY league_id
  ) WHERE kind IN ('added', 'restored') OR (@scope <> 'all' AND before ->> '$.status' <> @scope)`;

const MEMBER_NAMES = LEAGUE_MEMBERS.map((member) => member.name);

function prepareUpsert(db: BetterSQLite3Database) {
  const at = sql.placeholder('at');
  const members = Object.fromEntries(MEMBER_NAMES.map((name) => [name, sql.placeholder(name)]));
  const updated = [...MEMBER_NAMES.filter((name) => name !== 'league_id'), 'changed_at', 'removed_at', 'content_hash'];
  return db
    .insert(leagues)
    .values({
      ...(members as Record<keyof League, ReturnType<typeof sql.placeholder>>),
      content_hash: sql.placeholder('content_hash'),
      first_seen_at: at,
      changed_at: at,
      removed_at: null,
    })
    .onConflictDoUpdate({
      target: leagues.league_id,
      set: Object.fromEntries(updated.map((name) => [name, sql.raw(`excluded.${name}`)])),
    })
    .prepare();
}

function prepareRemove(db: BetterSQLite3Database) {
  const at = sql`${sql.placeholder('at')}`;
  return db
    .update(leagues)
    .set({ removed_at: at, changed_at: at })
    .where(eq(leagues.league_id, sql.placeholder('league_id')))
    .prepare();
}

function prepareAppend(db: BetterSQLite3Database) {
  const names = ['run_id', 'at', 'league_id', 'kind', 'before', 'after'] as const;
  const values = Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]));
  return db
    .insert(leagueChanges)
    .values(values as Record<(typeof names)[number], ReturnType<typeof sql.placeholder>>)
    .prepare();
}

function toColumns(league: League): Record<string, string | number | bigint | null> {
  return {
    ...league,
    default_tournaments: toFlag(league.default_tournaments),
    rankings: toFlag(league.rankings),
  };
}

function toFlag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}

function toLeague(row: Row): League {
  const members = LEAGUE_MEMBERS.map((field) => [field.name, toValue(field.type, row[field.name] ?? null)]);
  // The columns are STRICT and checked, so a row has the types of a league.
  return Object.fromEntries(members) as League;
}

function toValue(type: FieldType, stored: FieldValue): FieldValue {
  if (typeof stored !== 'bigint') return stored;
  if (type === 'flag') return stored === 1n;
  return Number.isSafeInteger(Number(stored)) ? Number(stored) : stored;
}
