import type Database from 'better-sqlite3';
import { LEAGUE_MEMBERS } from '../../league/schemas.ts';
import { type PageLimits, takePage } from './page.ts';

export type ListedFilter = {
  /** Selects leagues with a higher `league_id`. */
  readonly after: string;
  readonly status?: string | undefined;
  readonly sport?: string | undefined;
};

type ListedLeague = { readonly league_id: string; readonly json: string };

/** Integers are BigInt, so that no digit is lost. */
type Row = Readonly<Record<string, string | number | bigint | null>> & { readonly league_id: string };

const MEMBERS = [
  ...LEAGUE_MEMBERS,
  { name: 'first_seen_at', type: 'text' },
  { name: 'changed_at', type: 'text' },
] as const;

/** The listed leagues that match, by `league_id`: whole leagues as in the feed, with two timestamps, as JSON objects. */
export function readListed(db: Database.Database, filter: ListedFilter, limits: PageLimits) {
  const { status, sport } = filter;
  const sql = `SELECT ${MEMBERS.map(({ name }) => name).join(', ')} FROM leagues
    WHERE removed_at IS NULL AND league_id > @after
      AND ${status === undefined ? 'true' : 'status = @status'} AND ${sport === undefined ? 'true' : 'sport = @sport'}
    ORDER BY league_id LIMIT @most`;
  const found = db
    .prepare<[object], Row>(sql)
    .safeIntegers(true)
    .iterate({ ...filter, most: limits.limit + 1 });
  const { rows: leagues, more } = takePage(formatLeagues(found), limits, ({ json }) => json.length);
  return { leagues, more };
}

function* formatLeagues(rows: Iterable<Row>): Generator<ListedLeague> {
  for (const row of rows) {
    const members = MEMBERS.map(({ name, type }) => `"${name}":${valueJson(type, row[name] ?? null)}`);
    yield { league_id: row.league_id, json: `{${members.join()}}` };
  }
}

function valueJson(type: (typeof MEMBERS)[number]['type'], value: Row[string] | null): string {
  if (type === 'flag' && value !== null) return String(value === 1n);
  // Inserted unchanged, because it is JSON already and parsing could lose digits.
  if (type === 'json' && typeof value === 'string') return value;
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
