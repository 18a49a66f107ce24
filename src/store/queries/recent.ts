import type Database from 'better-sqlite3';
import type { FeedEntry } from './feed.ts';

/** A change of the feed, cut to what anybody reads of it. */
export type RecentChange = Pick<FeedEntry, 'seq' | 'at' | 'kind' | 'league_id' | 'league_name'> & {
  readonly fields: readonly FieldChange[];
};

/** Old and new value as text; null where there was none. */
export type FieldChange = { readonly field: string; readonly old: string | null; readonly now: string | null };

/** Which changes: all before a number of the feed, of one day (UTC, `YYYY-MM-DD`), of one league. */
export type RecentFilter = {
  readonly before?: number | undefined;
  readonly day?: string | undefined;
  readonly leagueId?: string | undefined;
};

const LONGEST_SHOWN = 200;
/** Sorts after every instant of a day. */
const DAYS_END = 'T~';

/** The newest changes that fit, newest first. */
export function readRecent(db: Database.Database, filter: RecentFilter, limit: number): readonly RecentChange[] {
  const { before, day, leagueId } = filter;
  const conditions = [
    before !== undefined && 'seq < @before',
    day !== undefined && `at >= @day AND at < @day || '${DAYS_END}'`,
    leagueId !== undefined && 'league_id = @leagueId',
  ].filter((condition) => condition !== false);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  // Both only grow, and each is looked up by what is asked for.
  const order = day === undefined && leagueId === undefined ? 'seq DESC' : 'at DESC, seq DESC';
  const rows = db
    .prepare<[object], Omit<RecentChange, 'fields'>>(
      `SELECT seq, at, kind, league_id,
          substr(coalesce(after ->> '$.league_name', before ->> '$.league_name'), 1, ${LONGEST_SHOWN}) AS league_name
        FROM league_changes ${where} ORDER BY ${order} LIMIT @limit`,
    )
    .all({ ...filter, limit });
  const fieldsOf = db.prepare<[number], FieldChange>(
    `SELECT field, substr(CAST(old_value AS TEXT), 1, ${LONGEST_SHOWN}) AS old,
        substr(CAST(new_value AS TEXT), 1, ${LONGEST_SHOWN}) AS now
      FROM league_field_changes WHERE seq = ?`,
  );
  return rows.map((row) => ({ ...row, fields: fieldsOf.all(row.seq) }));
}
