import type Database from 'better-sqlite3';
import type { JsonText, League } from '../../interface.ts';
import { columnsOf, leagueOf, MEMBER_COLUMNS, type Row } from './columns.ts';
import type { RunScope, Sighting } from './runs.ts';

/** What has to be known of every stored league to tell whether it differs. */
export type StoredLeague = {
  readonly leagueId: string;
  readonly hash: string;
  readonly removed: boolean;
  readonly status: string;
};

/** The stored leagues by `league_id`, as they were at one instant. */
export type LeagueIndex = ReadonlyMap<string, StoredLeague>;

/** One row of the change feed, but for its `seq`. */
export type Change = Sighting & {
  readonly leagueId: string;
  readonly kind: 'added' | 'changed' | 'removed' | 'restored';
  readonly before: JsonText | null;
  readonly after: JsonText | null;
};

/** The rows of `leagues` and of the change feed. Whoever writes owns the transaction. */
export type LeagueRows = {
  /**
   * The same as the last time, where nobody has written since: about 350 bytes for each league are kept for it. Not to be
   * asked for after a write in the same transaction, which may come to nothing.
   */
  readonly index: () => LeagueIndex;
  readonly isEmpty: () => boolean;
  /** The whole league. Throws where there is none of that id. */
  readonly load: (leagueId: string) => League;
  /** The leagues that were not listed in this scope just before the instant, and have changed since. */
  readonly joinedSince: (at: string, scope: RunScope) => ReadonlySet<string>;
  /** Inserts or updates by `league_id`; the row is listed afterwards. */
  readonly upsert: (league: League, hash: string, at: string) => void;
  readonly remove: (leagueId: string, at: string) => void;
  /** Notes the hash that this version of the program makes of the same content. */
  readonly rehash: (leagueId: string, hash: string) => void;
  readonly append: (change: Change) => void;
};

/**
 * Raw statements: those that drizzle prepares look up and encode each value by its column at each run, which takes twice
 * as long, and a first poll runs two for each league. Nor can drizzle ask for BigInt, without which an integer of more
 * than 53 bits would lose its last digits.
 */
export function createLeagueRows(client: Database.Database): LeagueRows {
  const selectIndex = client.prepare<[], IndexRow>(INDEX).raw();
  const dataVersion = client.prepare<[], number>('PRAGMA data_version').pluck();
  const selectOne = client.prepare<[string], Row>('SELECT * FROM leagues WHERE league_id = ?').safeIntegers(true);
  const selectAny = client.prepare('SELECT 1 FROM leagues LIMIT 1');
  const selectJoined = client.prepare<[object], string>(JOINED_SINCE).pluck();
  const upsert = client.prepare(UPSERT);
  const remove = client.prepare('UPDATE leagues SET removed_at = @at, changed_at = @at WHERE league_id = @leagueId');
  const rehash = client.prepare('UPDATE leagues SET content_hash = ? WHERE league_id = ?');
  const append = client.prepare(APPEND);
  /** `data_version` tells of other connections alone; what this one writes ends it by itself. */
  let latest: { readonly index: LeagueIndex; readonly version: number | undefined } | undefined;

  return {
    index: () => {
      const version = dataVersion.get();
      if (latest === undefined || latest.version !== version) latest = { index: readIndex(selectIndex), version };
      return latest.index;
    },
    load: (leagueId) => {
      const row = selectOne.get(leagueId);
      if (row === undefined) throw new Error(`There is no league ${leagueId} in the database.`);
      return leagueOf(row);
    },
    isEmpty: () => selectAny.get() === undefined,
    joinedSince: (at, scope) => new Set(selectJoined.all({ at, scope })),
    upsert: (league, hash, at) => {
      latest = undefined;
      // Spread: values by themselves are bound in less time than those of a list.
      upsert.run(...columnsOf(league), hash, at, at);
    },
    remove: (leagueId, at) => {
      latest = undefined;
      remove.run({ leagueId, at });
    },
    rehash: (leagueId, hash) => {
      latest = undefined;
      rehash.run(hash, leagueId);
    },
    append: ({ runId, at, leagueId, kind, before, after }) => {
      append.run(runId, at, leagueId, kind, before, after);
    },
  };
}

type IndexRow = [leagueId: string, hash: string, removed: 0 | 1, status: string];

function readIndex(select: Database.Statement<[], IndexRow>): LeagueIndex {
  const rows = new Map<string, StoredLeague>();
  for (const [leagueId, hash, removed, status] of select.all())
    rows.set(leagueId, { leagueId, hash, removed: removed === 1, status });
  return rows;
}

const INDEX = 'SELECT league_id, content_hash, removed_at IS NOT NULL, status FROM leagues';

/** The first change since then tells what was before. Beside `min`, SQLite gives the other columns of that same row. */
const JOINED_SINCE = `SELECT league_id FROM (
    SELECT league_id, kind, before, min(seq) FROM league_changes WHERE at >= @at GROUP BY league_id
  ) WHERE kind IN ('added', 'restored') OR (@scope <> 'all' AND before ->> '$.status' <> @scope)`;

const COLUMNS = [...MEMBER_COLUMNS, 'content_hash', 'first_seen_at', 'changed_at'];
const UPDATED = COLUMNS.filter((name) => name !== 'league_id' && name !== 'first_seen_at');

const UPSERT = `INSERT INTO leagues (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT (league_id) DO UPDATE
  SET ${UPDATED.map((name) => `${name} = excluded.${name}`).join(', ')}, removed_at = NULL`;

const APPEND = 'INSERT INTO league_changes (run_id, at, league_id, kind, before, after) VALUES (?, ?, ?, ?, ?, ?)';
