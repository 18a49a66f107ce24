import { readFrom } from './open.ts';

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
const SUMMARY = 'SELECT count(*) AS total, coalesce(max(seq), ?) AS last FROM league_changes WHERE seq > ?';
const FIELDS = 'SELECT field, old_value AS old, new_value AS now FROM league_field_changes WHERE seq = ?';

/** The changes after `seq`, oldest first, and how many there are in all. Throws a DatabaseError. */
export function readFeed(
  path: string,
  seq: number,
  limit: number,
): { readonly entries: readonly FeedEntry[]; readonly total: number; readonly last: number } {
  return readFrom(path, (db) => {
    const fields = db.prepare<[number], FeedEntry['fields'][number]>(FIELDS);
    const rows = db.prepare<[number, number], Row>(SINCE).all(seq, limit);
    const summary = db.prepare<[number, number], { total: number; last: number }>(SUMMARY).get(seq, seq);
    return {
      entries: rows.map((row) => ({ ...row, fields: fields.all(row.seq) })),
      ...(summary ?? { total: 0, last: seq }),
    };
  });
}
