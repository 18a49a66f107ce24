import type Database from 'better-sqlite3';
import { membersJson } from '../../league/league-json.ts';
import { LEAGUE_MEMBERS } from '../../league/schemas.ts';
import { type BatchLimits, takeBatch } from './batch.ts';

export type ListedFilter = {
  /** Selects leagues with a higher `league_id`. */
  readonly after: string;
  readonly status?: string | undefined;
  readonly sport?: string | undefined;
};

type ListedLeague = { readonly league_id: string; readonly json: string };

/** Integers are BigInt, so that no digit is lost. */
type Row = Readonly<Record<string, string | number | bigint | null>> & { readonly league_id: string };

const COLUMNS = [...LEAGUE_MEMBERS.map(({ name }) => name), 'first_seen_at', 'changed_at'];
const FLAGS = LEAGUE_MEMBERS.flatMap(({ name, type }) => (type === 'flag' ? [name] : []));

/** The listed leagues that match, by `league_id`: whole leagues as in the feed, with two timestamps, as JSON objects. */
export function readListed(db: Database.Database, filter: ListedFilter, limits: BatchLimits) {
  const { status, sport } = filter;
  const sql = `SELECT ${COLUMNS.join(', ')} FROM leagues
    WHERE removed_at IS NULL AND league_id > @after
      AND ${status === undefined ? 'true' : 'status = @status'} AND ${sport === undefined ? 'true' : 'sport = @sport'}
    ORDER BY league_id LIMIT @most`;
  const found = db
    .prepare<[object], Row>(sql)
    .safeIntegers(true)
    .iterate({ ...filter, most: limits.limit + 1 });
  const { rows: leagues, more } = takeBatch(formatLeagues(found), limits, ({ json }) => json.length);
  return { leagues, more };
}

function* formatLeagues(rows: Iterable<Row>): Generator<ListedLeague> {
  for (const row of rows) {
    const flags = FLAGS.map((name) => [name, row[name] === null ? null : row[name] === 1n]);
    const json = membersJson(LEAGUE_MEMBERS, { ...row, ...Object.fromEntries(flags) });
    yield { league_id: row.league_id, json };
  }
}
