import type Database from 'better-sqlite3';
import { LEAGUE_MEMBERS } from '../../interface.ts';
import { withReader } from '../connection.ts';

/** Which leagues somebody wants to see. Empty and absent mean any. */
export type Filter = {
  /** Part of the name, of the city or of the state, or the whole `league_id`. */
  readonly search?: string | undefined;
  readonly sport?: string | undefined;
  /** A status of the service's; `removed` for those that are not listed any more. */
  readonly status?: string | undefined;
};

/** A league in a list. */
export type ListedLeague = {
  readonly league_id: string;
  readonly league_name: string;
  readonly sport: string;
  readonly status: string;
  readonly place: string | null;
  readonly changed_at: string;
  readonly removed_at: string | null;
};

/** The leagues that a filter leaves, by name, a page of them, and how many there are. */
export type Listing = {
  readonly total: number;
  /** Which page it is, from 1: the last one where there are fewer than was asked for. */
  readonly page: number;
  readonly leagues: readonly ListedLeague[];
};

/** A value may be of any length; nobody reads more of one in a list. */
const LONGEST_LISTED = 200;
const cut = (expression: string): string => `substr(${expression}, 1, ${LONGEST_LISTED})`;

export function listLeagues(
  db: Database.Database,
  filter: Filter,
  { page: wanted, limit }: { readonly page: number; readonly limit: number },
): Listing {
  const where = whereOf(filter);
  // Written for SQLite, which otherwise takes part of what is looked for as any text.
  const values = { ...filter, pattern: `%${(filter.search ?? '').replace(/[\\%_]/g, '\\$&')}%` };
  // Without a filter as the view `freshness` counts them, by indexes alone: this is what is asked for most.
  const count = Object.values(filter).some((value) => value)
    ? `SELECT count(*) FROM leagues WHERE ${where}`
    : 'SELECT (SELECT count(*) FROM leagues) - (SELECT count(*) FROM leagues WHERE removed_at IS NOT NULL)';
  const total = db.prepare<[object], number>(count).pluck().get(values) ?? 0;
  const page = Math.min(wanted, Math.max(1, Math.ceil(total / limit)));
  const leagues = db
    .prepare<[object], ListedLeague>(
      `SELECT league_id, ${cut('league_name')} AS league_name, ${cut('sport')} AS sport, ${cut('status')} AS status,
          ${cut("nullif(concat_ws(', ', nullif(city, ''), nullif(state, '')), '')")} AS place, changed_at, removed_at
        FROM leagues WHERE ${where}
        ORDER BY leagues.league_name COLLATE NOCASE, league_id LIMIT @limit OFFSET @offset`,
    )
    .all({ ...values, limit, offset: (page - 1) * limit });
  return { total, page, leagues };
}

function whereOf({ search, sport, status }: Filter): string {
  const fits = (column: string): string => `${cut(column)} LIKE @pattern ESCAPE '\\'`;
  const conditions = [
    search && `(league_id = @search OR ${['league_name', 'city', 'state'].map(fits).join(' OR ')})`,
    // By what is shown of it, which is what was chosen from.
    sport && `${cut('sport')} = @sport`,
    status === 'removed' ? 'removed_at IS NOT NULL' : 'removed_at IS NULL',
    status && status !== 'removed' && `${cut('status')} = @status`,
  ];
  return conditions.filter((condition) => condition).join(' AND ');
}

export type Facet = { readonly name: string; readonly leagues: number };
/** How many leagues there are of each sport and of each status, the removed ones under `removed`. */
export type Facets = { readonly sports: readonly Facet[]; readonly statuses: readonly Facet[] };

const MOST_FACETS = 100;

/**
 * Counts the facets, which takes a look at every league, anew only where one has changed since: the feed tells of each
 * change, and the number of its last one only grows.
 */
export function createFacetCounter(): (db: Database.Database) => Facets {
  let last: { readonly seq: number; readonly facets: Facets } | undefined;
  return (db) => {
    const seq = db.prepare<[], number>('SELECT max(seq) FROM league_changes').pluck().get() ?? 0;
    if (last?.seq !== seq) last = { seq, facets: countFacets(db) };
    return last.facets;
  };
}

function countFacets(db: Database.Database): Facets {
  const count = (name: string, where: string): readonly Facet[] =>
    db
      .prepare<[], Facet>(
        `SELECT ${name} AS name, count(*) AS leagues FROM leagues WHERE ${where}
          GROUP BY 1 ORDER BY leagues DESC, name LIMIT ${MOST_FACETS}`,
      )
      .all();
  return {
    sports: count(cut('sport'), 'removed_at IS NULL'),
    statuses: count(`iif(removed_at IS NULL, ${cut('status')}, 'removed')`, 'true'),
  };
}

/** All that is known of one league. */
export type LeagueDetails = {
  /** Its fields and `extra`, as their columns hold them. */
  readonly fields: readonly { readonly name: string; readonly value: Truncated }[];
  readonly name: string;
  readonly first_seen_at: string;
  readonly changed_at: string;
  readonly removed_at: string | null;
  readonly held_since: string | null;
};

/** A value, as much of it as anybody reads, and how long it is. */
export type Truncated = { readonly text: string | null; readonly length: number };

const LONGEST_READ = 2_000;

/** Undefined where there is no league of this id. */
export function readLeague(db: Database.Database, leagueId: string): LeagueDetails | undefined {
  const row = db
    .prepare<[string], Omit<LeagueDetails, 'fields'>>(
      `SELECT substr(league_name, 1, ${LONGEST_READ}) AS name, first_seen_at, changed_at, removed_at,
          (SELECT held_since FROM held_removals WHERE held_removals.league_id = leagues.league_id) AS held_since
        FROM leagues WHERE league_id = ?`,
    )
    .get(leagueId);
  if (row === undefined) return undefined;
  const fields = LEAGUE_MEMBERS.map(({ name, type }) => {
    const text = type === 'flag' ? `CASE ${name} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END` : `CAST(${name} AS TEXT)`;
    const sql = `SELECT substr(${text}, 1, ${LONGEST_READ}) AS text, coalesce(length(${name}), 0) AS length
      FROM leagues WHERE league_id = ?`;
    return { name, value: db.prepare<[string], Truncated>(sql).get(leagueId) as Truncated };
  });
  return { ...row, fields };
}

/** Whether a league of this id was ever seen. Throws a DatabaseError. */
export function isKnown(path: string, leagueId: string): boolean {
  return withReader(path, (db) => db.prepare('SELECT 1 FROM leagues WHERE league_id = ?').get(leagueId) !== undefined);
}

/** The ids of leagues of this name, or of this id in other letters. Throws a DatabaseError. */
export function findByName(path: string, name: string): readonly string[] {
  const sql = `SELECT league_id FROM leagues
    WHERE league_name = @name COLLATE NOCASE OR league_id = @name COLLATE NOCASE LIMIT 5`;
  return withReader(path, (db) => db.prepare<[object], string>(sql).pluck().all({ name }));
}
