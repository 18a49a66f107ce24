import type Database from 'better-sqlite3';
import { parseJson } from '../../league/json.ts';
import {
  type Field,
  type FieldType,
  type FieldValue,
  LEAGUE_MEMBERS,
  type League,
} from '../../league/response-schemas.ts';
import type { leagueChanges } from '../schema.ts';
import type { RunScope, RunStamp } from './runs.ts';

/** What a poll compares the received leagues with, by `league_id`. To save memory, `live` has no object per league. */
export type LeagueIndex = {
  /** The hashes of the live leagues in scope. */
  readonly live: ReadonlyMap<string, string>;
  /** The other leagues: removed ones, and live ones with a status that is not in scope. */
  readonly others: ReadonlyMap<string, { readonly hash: string; readonly removed: boolean }>;
};

export type NewChange = Omit<typeof leagueChanges.$inferSelect, 'seq' | 'run_id' | 'at'>;

/** In plain SQL: drizzle, which encodes each value, took 5.3 s for a first poll of 100,000 leagues, not 4.2 s. */
export function createLeagueRows(client: Database.Database) {
  const index = createIndex(client);
  const selectOne = client.prepare<[string], LeagueRow>('SELECT * FROM leagues WHERE league_id = ?').safeIntegers(true);
  const selectJoined = client.prepare<[object], string>(JOINED_SINCE).pluck();
  return {
    ...createWriting(client, index.forget),
    index: index.read,
    load: (leagueId: string): League => {
      const row = selectOne.get(leagueId);
      if (row === undefined) throw new Error(`There is no league ${leagueId} in the database.`);
      return toLeague(row);
    },
    /** The leagues that were added, were restored or came into this scope at or after `at`. */
    joinedSince: (at: string, scope: RunScope): ReadonlySet<string> => new Set(selectJoined.all({ at, scope })),
  };
}

function createWriting(client: Database.Database, forgetIndex: () => void) {
  const upsert = client.prepare(UPSERT);
  const remove = client.prepare('UPDATE leagues SET removed_at = @at, changed_at = @at WHERE league_id = @leagueId');
  const rehash = client.prepare('UPDATE leagues SET content_hash = ? WHERE league_id = ?');
  const append = client.prepare(APPEND);
  return {
    /** Also marks a removed league as listed again. */
    upsert: (league: League, hash: string, at: string): void => {
      forgetIndex();
      // Spread arguments are bound faster than an array.
      upsert.run(...LEAGUE_MEMBERS.map(({ name }) => toColumn(league[name])), hash, at, at);
    },
    remove: (leagueId: string, at: string): void => {
      forgetIndex();
      remove.run({ leagueId, at });
    },
    /** Updates only the hash, for content that another version of the program hashed differently. */
    rehash: (leagueId: string, hash: string): void => {
      forgetIndex();
      rehash.run(hash, leagueId);
    },
    append: ({ league_id, kind, before, after }: NewChange, { runId, at }: RunStamp): void => {
      append.run(runId, at, league_id, kind, before, after);
    },
  };
}

/** Caches the index (200 bytes a league). Never call `read` before a commit: a rollback would leave it wrong. */
function createIndex(client: Database.Database) {
  const selectLive = client.prepare<[{ scope: RunScope }], [string, string]>(LIVE).raw();
  const selectOthers = client.prepare<[{ scope: RunScope }], [string, string, 0 | 1]>(OTHERS).raw();
  // `data_version` changes only if another connection writes.
  const dataVersion = client.prepare<[], number>('PRAGMA data_version').pluck();
  let latest: (LeagueIndex & { readonly scope: RunScope; readonly version: number | undefined }) | undefined;
  return {
    read: (scope: RunScope): LeagueIndex => {
      const version = dataVersion.get();
      if (latest?.version === version && latest?.scope === scope) return latest;
      const others = selectOthers.all({ scope }).map(([leagueId, hash, removed]) => {
        return [leagueId, { hash, removed: removed === 1 }] as const;
      });
      latest = { live: new Map(selectLive.all({ scope })), others: new Map(others), scope, version };
      return latest;
    },
    forget: (): void => {
      latest = undefined;
    },
  };
}

const LIVE = `SELECT league_id, content_hash FROM leagues
  WHERE removed_at IS NULL AND (@scope = 'all' OR status = @scope)`;
const OTHERS = `SELECT league_id, content_hash, removed_at IS NOT NULL FROM leagues
  WHERE removed_at IS NOT NULL OR (@scope <> 'all' AND status <> @scope)`;

/** Includes leagues that have since left the list or the scope again. */
const JOINED_SINCE = `SELECT DISTINCT league_id FROM league_changes
  WHERE at >= @at AND (kind IN ('added', 'restored') OR (@scope <> 'all' AND before ->> '$.status' <> @scope))`;

const COLUMNS = [...LEAGUE_MEMBERS.map(({ name }) => name), 'content_hash', 'first_seen_at', 'changed_at'];
const UPDATED = COLUMNS.filter((name) => name !== 'league_id' && name !== 'first_seen_at');

const UPSERT = `INSERT INTO leagues (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT (league_id) DO UPDATE
  SET ${UPDATED.map((name) => `${name} = excluded.${name}`).join(', ')}, removed_at = NULL`;

/** Uses positional parameters: named parameters made the first poll of 100,000 leagues 9 % slower. */
const APPEND = 'INSERT INTO league_changes (run_id, at, league_id, kind, before, after) VALUES (?, ?, ?, ?, ?, ?)';

/** Integers are BigInt: JavaScript's numbers are exact only up to 53 bits. */
type ColumnValue = string | number | bigint | null;

export type LeagueRow = Readonly<Record<string, ColumnValue>>;

export function toLeague(row: LeagueRow): League {
  const members = LEAGUE_MEMBERS.map(({ name, type }) => [name, toValue(type, row[name] ?? null)]);
  // The cast is safe: the table is STRICT and has CHECK constraints.
  return Object.fromEntries(members) as League;
}

/** Whether the column holds its value in the form in which it is written: 3 as an integer, JSON without spaces. */
export function isAsWritten({ name, type }: Field, row: LeagueRow): boolean {
  const stored = row[name] ?? null;
  if (type === 'json' && typeof stored === 'string') return JSON.stringify(parseJson(stored)) === stored;
  return typeof stored !== 'number' || toColumn(stored) === stored;
}

/**
 * better-sqlite3 binds BigInt as INTEGER, but every number as REAL, and a column of type ANY would keep the REAL. By its
 * text, as in the feed: 1.2345678901234568e18 is 1234567890123456800 there, and 1234567890123456768 by its bits.
 */
function toColumn(value: FieldValue): ColumnValue {
  if (typeof value === 'boolean') return Number(value);
  const isInteger = typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 63;
  return isInteger ? BigInt(String(value)) : value;
}

function toValue(type: FieldType, stored: ColumnValue): FieldValue {
  if (typeof stored !== 'bigint') return stored;
  if (type === 'flag') return stored === 1n;
  return Number.isSafeInteger(Number(stored)) ? Number(stored) : stored;
}
