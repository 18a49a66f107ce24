import type Database from 'better-sqlite3';

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

/** How many leagues there are of each sport and of each status, the removed ones under `removed`. */
export type Facets = { readonly sports: readonly Facet[]; readonly statuses: readonly Facet[] };
export type Facet = { readonly name: string; readonly leagues: number };

/** The leagues that a filter leaves, by name, a page of them, and how many there are. */
export type Listing = {
  readonly total: number;
  /** Which page it is, from 1: the last one where there are fewer than was asked for. */
  readonly page: number;
  readonly leagues: readonly ListedLeague[];
};

/** A value may be of any length; nobody reads more of one in a list. */
const LONGEST_SHOWN = 200;
const MOST_FACETS = 100;

export function listLeagues(
  db: Database.Database,
  filter: Filter,
  { page: wanted, limit }: { readonly page: number; readonly limit: number },
): Listing {
  const where = whereOf(filter);
  const values = { ...filter, pattern: `%${escapeLike(filter.search ?? '')}%` };
  const total = countLeagues(db, filter, values);
  const page = Math.min(wanted, Math.max(1, Math.ceil(total / limit)));
  const leagues = db
    .prepare<[object], ListedLeague>(
      `SELECT league_id, substr(league_name, 1, ${LONGEST_SHOWN}) AS league_name,
          substr(sport, 1, ${LONGEST_SHOWN}) AS sport, substr(status, 1, ${LONGEST_SHOWN}) AS status,
          substr(nullif(concat_ws(', ', nullif(city, ''), nullif(state, '')), ''), 1, ${LONGEST_SHOWN}) AS place,
          changed_at, removed_at
        FROM leagues WHERE ${where}
        ORDER BY leagues.league_name COLLATE NOCASE, league_id LIMIT @limit OFFSET @offset`,
    )
    .all({ ...values, limit, offset: (page - 1) * limit });
  return { total, page, leagues };
}

function countLeagues(db: Database.Database, filter: Filter, values: object): number {
  const { search, sport, status } = filter;
  // As the view `freshness` counts them, by indexes alone: this is what is asked for most.
  const sql =
    search || sport || status
      ? `SELECT count(*) FROM leagues WHERE ${whereOf(filter)}`
      : 'SELECT (SELECT count(*) FROM leagues) - (SELECT count(*) FROM leagues WHERE removed_at IS NOT NULL)';
  return db.prepare<[object], number>(sql).pluck().get(values) ?? 0;
}

/** Written for SQLite, which otherwise takes part of what is looked for as any text. */
function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

function whereOf({ search, sport, status }: Filter): string {
  const conditions = [
    search && `(league_id = @search OR ${['league_name', 'city', 'state'].map(likeOf).join(' OR ')})`,
    // By what is shown of it, which is what was chosen from.
    sport && `substr(sport, 1, ${LONGEST_SHOWN}) = @sport`,
    status === 'removed' ? 'removed_at IS NOT NULL' : 'removed_at IS NULL',
    status && status !== 'removed' && `substr(status, 1, ${LONGEST_SHOWN}) = @status`,
  ];
  return conditions.filter((condition) => condition).join(' AND ');
}

function likeOf(column: string): string {
  return `substr(${column}, 1, ${LONGEST_SHOWN}) LIKE @pattern ESCAPE '\\'`;
}

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
  const count = (sql: string): readonly Facet[] =>
    db
      .prepare<[], Facet>(
        `SELECT name, count(*) AS leagues FROM (${sql}) GROUP BY name ORDER BY leagues DESC, name LIMIT ${MOST_FACETS}`,
      )
      .all();
  return {
    sports: count(`SELECT substr(sport, 1, ${LONGEST_SHOWN}) AS name FROM leagues WHERE removed_at IS NULL`),
    statuses: count(
      `SELECT iif(removed_at IS NULL, substr(status, 1, ${LONGEST_SHOWN}), 'removed') AS name FROM leagues`,
    ),
  };
}
