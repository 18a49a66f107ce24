import { openForReading } from './open.ts';

/** A change as people read it. */
export type FeedEntry = {
  readonly seq: number;
  readonly kind: string;
  readonly leagueName: string;
  readonly fields: readonly { readonly field: string; readonly old: unknown; readonly now: unknown }[];
};

type Row = { readonly seq: number; readonly kind: string; readonly leagueName: string };

const SINCE = `SELECT seq, kind, coalesce(after, before) ->> '$.league_name' AS leagueName
  FROM league_changes WHERE seq > ? ORDER BY seq LIMIT ?`;
const FIELDS = 'SELECT field, old_value AS old, new_value AS now FROM league_field_changes WHERE seq = ?';

/** The changes after `seq`, oldest first, and how many there are in all. Throws a DatabaseError. */
export function readFeed(
  path: string,
  seq: number,
  limit: number,
): { readonly entries: readonly FeedEntry[]; readonly total: number; readonly last: number } {
  const db = openForReading(path);
  try {
    const fields = db.prepare<[number], FeedEntry['fields'][number]>(FIELDS);
    const rows = db.prepare<[number, number], Row>(SINCE).all(seq, limit);
    const { total, last } = db
      .prepare<[number, number], { total: number; last: number }>(
        'SELECT count(*) AS total, coalesce(max(seq), ?) AS last FROM league_changes WHERE seq > ?',
      )
      .get(seq, seq) ?? { total: 0, last: seq };
    return { entries: rows.map((row) => ({ ...row, fields: fields.all(row.seq) })), total, last };
  } finally {
    db.close();
  }
}
