import type Database from 'better-sqlite3';
import { type FieldType, type FieldValue, type JsonText, LEAGUE_MEMBERS, type League } from '../../interface.ts';
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

export type LeagueRows = ReturnType<typeof createLeagueRows>;

/**
 * The rows of `leagues` and of the change feed. Whoever writes owns the transaction. Raw statements: a first poll of
 * 100,000 leagues takes 4.2 s with them and 5.3 s with drizzle's, which encode each value by its column.
 */
export function createLeagueRows(client: Database.Database) {
  const index = createIndex(client);
  return { index: index.read, ...createReading(client), ...createWriting(client, index.forget) };
}

function createReading(client: Database.Database) {
  const selectOne = client.prepare<[string], Row>('SELECT * FROM leagues WHERE league_id = ?').safeIntegers(true);
  const selectAny = client.prepare('SELECT 1 FROM leagues LIMIT 1');
  const selectJoined = client.prepare<[object], string>(JOINED_SINCE).pluck();
  return {
    isEmpty: (): boolean => selectAny.get() === undefined,
    /** The whole league. Throws where there is none of that id. */
    load: (leagueId: string): League => {
      const row = selectOne.get(leagueId);
      if (row === undefined) throw new Error(`There is no league ${leagueId} in the database.`);
      return leagueOf(row);
    },
    /** The leagues that were not listed in this scope just before the instant, and have changed since. */
    joinedSince: (at: string, scope: RunScope): ReadonlySet<string> => new Set(selectJoined.all({ at, scope })),
  };
}

function createWriting(client: Database.Database, forgetIndex: () => void) {
  const upsert = client.prepare(UPSERT);
  const remove = client.prepare('UPDATE leagues SET removed_at = @at, changed_at = @at WHERE league_id = @leagueId');
  const rehash = client.prepare('UPDATE leagues SET content_hash = ? WHERE league_id = ?');
  const append = client.prepare(APPEND);
  return {
    /** Inserts or updates by `league_id`; the row is listed afterwards. */
    upsert: (league: League, hash: string, at: string): void => {
      forgetIndex();
      // Spread: values by themselves are bound in less time than those of a list.
      upsert.run(...LEAGUE_MEMBERS.map(({ name }) => toColumn(league[name])), hash, at, at);
    },
    remove: (leagueId: string, at: string): void => {
      forgetIndex();
      remove.run({ leagueId, at });
    },
    /** Notes the hash that this version of the program makes of the same content. */
    rehash: (leagueId: string, hash: string): void => {
      forgetIndex();
      rehash.run(hash, leagueId);
    },
    append: ({ runId, at, leagueId, kind, before, after }: Change): void => {
      append.run(runId, at, leagueId, kind, before, after);
    },
  };
}

type IndexRow = [leagueId: string, hash: string, removed: 0 | 1, status: string];

/**
 * The index is the same as the last time if nobody has written since: about 350 bytes for each league are kept for it.
 * Not to be asked for after a write in the same transaction, which may come to nothing.
 */
function createIndex(client: Database.Database) {
  const select = client.prepare<[], IndexRow>(INDEX).raw();
  /** Tells of other connections alone; what this one writes ends the index by `forget`. */
  const dataVersion = client.prepare<[], number>('PRAGMA data_version').pluck();
  let latest: { readonly index: LeagueIndex; readonly version: number | undefined } | undefined;
  const readAll = (): LeagueIndex => {
    const rows = new Map<string, StoredLeague>();
    for (const [leagueId, hash, removed, status] of select.all())
      rows.set(leagueId, { leagueId, hash, removed: removed === 1, status });
    return rows;
  };
  return {
    read: (): LeagueIndex => {
      const version = dataVersion.get();
      if (latest === undefined || latest.version !== version) latest = { index: readAll(), version };
      return latest.index;
    },
    forget: (): void => {
      latest = undefined;
    },
  };
}

const INDEX = 'SELECT league_id, content_hash, removed_at IS NOT NULL, status FROM leagues';

/** The first change since then tells what was before. Beside `min`, SQLite gives the other columns of that same row. */
const JOINED_SINCE = `SELECT league_id FROM (
    SELECT league_id, kind, before, min(seq) FROM league_changes WHERE at >= @at GROUP BY league_id
  ) WHERE kind IN ('added', 'restored') OR (@scope <> 'all' AND before ->> '$.status' <> @scope)`;

const COLUMNS = [...LEAGUE_MEMBERS.map(({ name }) => name), 'content_hash', 'first_seen_at', 'changed_at'];
const UPDATED = COLUMNS.filter((name) => name !== 'league_id' && name !== 'first_seen_at');

const UPSERT = `INSERT INTO leagues (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT (league_id) DO UPDATE
  SET ${UPDATED.map((name) => `${name} = excluded.${name}`).join(', ')}, removed_at = NULL`;

const APPEND = 'INSERT INTO league_changes (run_id, at, league_id, kind, before, after) VALUES (?, ?, ?, ?, ?, ?)';

/** What a column holds; integers are BigInt, since those of more than 53 bits would lose their last digits. */
type ColumnValue = string | number | bigint | null;
type Row = Readonly<Record<string, ColumnValue>>;

/** JavaScript's numbers are bound as REAL, which a column of type ANY would keep; whole ones of 64 bits are integers. */
function toColumn(value: FieldValue): ColumnValue {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value) : value;
}

function leagueOf(row: Row): League {
  const members = LEAGUE_MEMBERS.map(({ name, type }) => [name, toValue(type, row[name] ?? null)]);
  // The columns are STRICT and checked, so a row has the types of a league.
  return Object.fromEntries(members) as League;
}

function toValue(type: FieldType, stored: ColumnValue): FieldValue {
  if (typeof stored !== 'bigint') return stored;
  if (type === 'flag') return stored === 1n;
  return Number.isSafeInteger(Number(stored)) ? Number(stored) : stored;
}
