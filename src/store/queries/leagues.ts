import type Database from 'better-sqlite3';
import { membersJson } from '../../league/feed-json.ts';
import { type FieldValue, LEAGUE_MEMBERS } from '../../league/response-schemas.ts';
import type { leagues } from '../schema.ts';
import { type LeagueRow, toLeague } from '../tables/leagues.ts';
import { type BatchLimits, takeBatch } from './batch.ts';
import { untilFeedGrows } from './feed.ts';

/** An empty or absent value matches every league, except that removed leagues match only the status `removed`. */
export type Filter = {
  /** Part of the name, city or state, or the whole `league_id`. */
  readonly search?: string | undefined;
  readonly sport?: string | undefined;
  /** A status of the service, `removed` for removed leagues, or `held` for those whose removal is held. */
  readonly status?: string | undefined;
};

/** Of names that differ only in a number at the end, the shorter comes first: `League 2` before `League 10`. */
const BY_NAME = `rtrim(leagues.league_name, '0123456789') COLLATE NOCASE, length(leagues.league_name),
      leagues.league_name COLLATE NOCASE, league_id`;

const ORDERS = {
  name: BY_NAME,
  sport: `leagues.sport COLLATE NOCASE, leagues.priority, ${BY_NAME}`,
  status: `leagues.status COLLATE NOCASE, leagues.priority, ${BY_NAME}`,
  /** The service's own order. */
  priority: `leagues.priority, ${BY_NAME}`,
  changed: 'changed_at DESC, league_id',
} as const;

export type Sort = keyof typeof ORDERS;
export const SORTS = Object.keys(ORDERS) as readonly Sort[];

type League = typeof leagues.$inferSelect;

/** Texts are truncated. */
type ListedLeague = Pick<League, 'league_id' | 'league_name' | 'sport' | 'status' | 'changed_at' | 'removed_at'> & {
  readonly city: string | null;
  readonly state: string | null;
  readonly priority: string;
  /** Since when its removal is held. */
  readonly held_since: string | null;
};

export type ListOptions = {
  readonly sort?: Sort;
  /** The page, from 1. */
  readonly page: number;
  readonly limit: number;
};

export type LeaguePage = ReturnType<typeof listLeagues>;

const truncate = (expression: string): string => `substr(${expression}, 1, 200)`;

/** A page of the matching leagues; the last page if `page` is too high. */
export function listLeagues(db: Database.Database, filter: Filter, options: ListOptions) {
  const { sort = 'priority', page: wanted, limit } = options;
  const total = countLeagues(db, filter);
  const page = Math.min(wanted, Math.max(1, Math.ceil(total / limit)));
  const sql = `SELECT league_id, ${truncate('league_name')} AS league_name, ${truncate('sport')} AS sport, ${truncate('status')} AS status,
      ${truncate('city')} AS city, ${truncate('state')} AS state,
      ${truncate('CAST(priority AS TEXT)')} AS priority, changed_at, removed_at,
      (SELECT held_since FROM held_removals WHERE held_removals.league_id = leagues.league_id) AS held_since
    FROM leagues WHERE ${buildWhere(filter)}
    ORDER BY ${ORDERS[sort]} LIMIT @limit OFFSET @offset`;
  const found = db.prepare<[object], ListedLeague>(sql).all({ ...valuesOf(filter), limit, offset: (page - 1) * limit });
  return { total, page, leagues: found };
}

export function countLeagues(db: Database.Database, filter: Filter): number {
  // Without a filter, the count needs only indexes, as in the view `freshness`.
  const sql = [filter.search, filter.sport, filter.status].some((value) => value)
    ? `SELECT count(*) FROM leagues WHERE ${buildWhere(filter)}`
    : 'SELECT (SELECT count(*) FROM leagues) - (SELECT count(*) FROM leagues WHERE removed_at IS NOT NULL)';
  return db.prepare<[object], number>(sql).pluck().get(valuesOf(filter)) ?? 0;
}

const valuesOf = (filter: Filter) => ({
  ...filter,
  pattern: `%${(filter.search ?? '').replace(/[\\%_]/g, '\\$&')}%`,
});

function buildWhere({ search, sport, status }: Filter): string {
  const fits = (column: string): string => `${truncate(column)} LIKE @pattern ESCAPE '\\'`;
  const conditions = [
    search && `(league_id = @search OR ${['league_name', 'city', 'state'].map(fits).join(' OR ')})`,
    // Truncated like the values that `countFacets` offers as filters.
    sport && `${truncate('sport')} = @sport`,
    status === 'removed' ? 'removed_at IS NOT NULL' : 'removed_at IS NULL',
    status === 'held' && 'league_id IN (SELECT league_id FROM held_removals)',
    status && status !== 'removed' && status !== 'held' && `${truncate('status')} = @status`,
  ];
  return conditions.filter((condition) => condition).join(' AND ');
}

export type Facet = { readonly name: string; readonly leagues: number };
/** `active`: how many of them are active. */
export type SportFacet = Facet & { readonly active: number };
export type Facets = ReturnType<typeof countFacets>;

/** More sports and statuses are not counted. */
const MAX_FACETS = 100;

/** Counting reads every league. */
export const createFacetCounter = () => untilFeedGrows(countFacets);

/** Counts the live leagues by sport, and all leagues by status, with `removed` as the status of removed leagues. */
function countFacets(db: Database.Database) {
  const group = `GROUP BY 1 ORDER BY leagues DESC, name LIMIT ${MAX_FACETS}`;
  const sports = `SELECT ${truncate('sport')} AS name, count(*) AS leagues, sum(status = 'active') AS active
    FROM leagues WHERE removed_at IS NULL ${group}`;
  const statuses = `SELECT iif(removed_at IS NULL, ${truncate('status')}, 'removed') AS name, count(*) AS leagues
    FROM leagues ${group}`;
  return {
    sports: db.prepare<[], SportFacet>(sports).all(),
    statuses: db.prepare<[], Facet>(statuses).all(),
  };
}

export type LeagueDetails = NonNullable<ReturnType<typeof readLeague>>;

type LeagueTimes = Pick<League, 'first_seen_at' | 'changed_at' | 'removed_at'> & { readonly held_since: string | null };

const MAX_READ_CHARS = 2_000;

/** `fields` are those of the interface and `extra`, as text; flags are `true` or `false`. */
export function readLeague(db: Database.Database, leagueId: string) {
  const sql = `SELECT *,
      (SELECT held_since FROM held_removals WHERE held_removals.league_id = leagues.league_id) AS held_since
    FROM leagues WHERE league_id = ?`;
  const row = db.prepare<[string], LeagueRow & LeagueTimes>(sql).safeIntegers(true).get(leagueId);
  if (row === undefined) return undefined;
  const { first_seen_at, changed_at, removed_at, held_since } = row;
  const league = toLeague(row);
  const fields = LEAGUE_MEMBERS.map(({ name }) => ({ name, value: shorten(league[name]) }));
  const name = shorten(league.league_name).text ?? '';
  return { name, first_seen_at, changed_at, removed_at, held_since, fields };
}

/** `text`: the first 2,000 characters of a value; null for NULL. `length`: the total number of characters. */
function shorten(value: FieldValue) {
  const text = value === null ? null : String(value);
  return { text: text?.slice(0, MAX_READ_CHARS).toWellFormed() ?? null, length: text?.length ?? 0 };
}

/** The name of a league; undefined if there is none with this id. */
export const readName = (db: Database.Database, leagueId: string): string | undefined =>
  db
    .prepare<[string], string>(`SELECT ${truncate('league_name')} FROM leagues WHERE league_id = ?`)
    .pluck()
    .get(leagueId);

type NamedLeague = Pick<League, 'league_id' | 'league_name' | 'sport' | 'removed_at'>;

/** The leagues with this name, the live ones first; if there is none, those with this name in other case. */
export function findByName(db: Database.Database, name: string): readonly NamedLeague[] {
  const sql = `SELECT league_id, ${truncate('league_name')} AS league_name, ${truncate('sport')} AS sport, removed_at
    FROM leagues WHERE league_name = @name COLLATE NOCASE
    ORDER BY removed_at IS NOT NULL, sport, league_id`;
  const found = db.prepare<[object], NamedLeague>(sql).all({ name });
  const exact = found.filter((league) => league.league_name === name);
  return exact.length > 0 ? exact : found;
}

/** The ids of the leagues that had this name before another. Reads the whole feed. */
export function findByFormerName(db: Database.Database, name: string): readonly string[] {
  const sql = `SELECT DISTINCT league_id FROM league_changes WHERE before ->> 'league_name' = ? COLLATE NOCASE`;
  return db.prepare<[string], string>(sql).pluck().all(name);
}

export function listNames(db: Database.Database): readonly string[] {
  return db
    .prepare<[], string>(`SELECT DISTINCT ${truncate('league_name')} FROM leagues`)
    .pluck()
    .all();
}

export type ListedFilter = {
  /** Selects leagues with a higher `league_id`. */
  readonly after: string;
  readonly status?: string | undefined;
  readonly sport?: string | undefined;
};

/**
 * The live leagues that match, by `league_id`: whole leagues as in the feed, with two timestamps and whether the removal
 * is held, as JSON objects.
 */
export function readListed(db: Database.Database, filter: ListedFilter, limits: BatchLimits) {
  const { status, sport } = filter;
  const sql = `SELECT *, league_id IN (SELECT league_id FROM held_removals) AS held FROM leagues
    WHERE removed_at IS NULL AND league_id > @after
      AND ${status === undefined ? 'true' : 'status = @status'} AND ${sport === undefined ? 'true' : 'sport = @sport'}
    ORDER BY league_id LIMIT @most`;
  const found = db
    .prepare<[object], LeagueRow>(sql)
    .safeIntegers(true)
    .iterate({ ...filter, most: limits.limit + 1 });
  const { rows: leagues, more } = takeBatch(formatLeagues(found), limits, ({ json }) => json.length);
  return { leagues, more };
}

function* formatLeagues(rows: Iterable<LeagueRow>): Generator<{ readonly league_id: string; readonly json: string }> {
  for (const row of rows) {
    const { first_seen_at = null, changed_at = null, held } = row;
    const league = toLeague(row);
    const members = { ...league, first_seen_at, changed_at, held: held === 1n };
    yield { league_id: league.league_id, json: membersJson(LEAGUE_MEMBERS, members) };
  }
}
