import type Database from 'better-sqlite3';
import { withReader } from '../connection.ts';

/** One change of the feed. JSON is text, so that no digit is lost. */
export type FeedEntry = {
  readonly seq: number;
  readonly run_id: number;
  readonly at: string;
  readonly league_id: string;
  readonly kind: 'added' | 'changed' | 'removed' | 'restored';
  readonly before: string | null;
  readonly after: string | null;
  /** Its name before the change, where that changed. */
  readonly league_name: string | null;
  /** What changed, field by field, where this was asked for; nothing for `added` and `removed`. */
  readonly fields: readonly { readonly field: string; readonly old: unknown; readonly now: unknown }[];
};

/** Where in the feed to begin. */
export type FeedStart =
  /** After this change. */
  | { readonly afterSeq: number }
  /** With the first change at this instant or later. */
  | { readonly sinceAt: string }
  /** So that this many are left. */
  | { readonly newest: number };

/** A stretch of the feed: `seq` greater than `after`, up to and including `last`; of one league, or of all. */
export type FeedStretch = { readonly after: number; readonly last: number; readonly leagueId?: string | undefined };

/** Entries that are read at once, so that a feed of any length takes little memory and holds up no one. */
const PAGE = 500;

/** Finds the stretch from `start` to the present end of the feed. */
export function findStretch(db: Database.Database, start: FeedStart, leagueId?: string): FeedStretch {
  const one = (sql: string, values: object): number => db.prepare<[object], number>(sql).pluck().get(values) ?? 0;
  const which = leagueId === undefined ? 'true' : 'league_id = @leagueId';
  const find = (): number => {
    if ('afterSeq' in start) return start.afterSeq;
    // Both only grow, so that the last one before the instant is the one with the largest number.
    if ('sinceAt' in start)
      return one('SELECT seq FROM league_changes WHERE at < @sinceAt ORDER BY at DESC, seq DESC LIMIT 1', start);
    const newest = `SELECT seq FROM league_changes WHERE ${which} ORDER BY seq DESC LIMIT @newest`;
    return one(`SELECT min(seq) - 1 FROM (${newest})`, { ...start, leagueId });
  };
  return { after: find(), last: one('SELECT max(seq) FROM league_changes', {}), leagueId };
}

export type FeedOptions = {
  /** As many entries at the most. */
  readonly most: number;
  /** Whether `fields` is wanted; it costs more than all the rest. */
  readonly fields: boolean;
};

/** Reads the stretch a page at a time, oldest first. Throws a DatabaseError. */
export function* readFeed(path: string, stretch: FeedStretch, options: FeedOptions): Generator<readonly FeedEntry[]> {
  let { after } = stretch;
  for (let left = options.most; left > 0; left -= PAGE) {
    const most = Math.min(left, PAGE);
    const page = withReader(path, (db) => readPage(db, { ...stretch, after }, { ...options, most }));
    yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.seq ?? after;
  }
}

/** The first entries of the stretch, oldest first. */
export function readPage(
  db: Database.Database,
  stretch: FeedStretch,
  { most, fields }: FeedOptions,
): readonly FeedEntry[] {
  const which = stretch.leagueId === undefined ? 'true' : 'league_id = @leagueId';
  const sql = `SELECT seq, run_id, at, league_id, kind, before, after,
      coalesce(before ->> '$.league_name', after ->> '$.league_name') AS league_name
    FROM league_changes WHERE seq > @after AND seq <= @last AND ${which} ORDER BY seq LIMIT @limit`;
  const rows = db.prepare<[object], Omit<FeedEntry, 'fields'>>(sql).all({ ...stretch, limit: most });
  const fieldsOf = db
    .prepare<[number], FeedEntry['fields'][number]>(
      'SELECT field, old_value AS old, new_value AS now FROM league_field_changes WHERE seq = ?',
    )
    .safeIntegers(true);
  return rows.map((row) => ({ ...row, fields: fields ? fieldsOf.all(row.seq) : [] }));
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

/** Whatever else changes, this does too, and says nothing by itself. */
const NOISE = 'last_update_datetime';

/** What a change tells of: the service's own time of change only where nothing else did. */
export function tellingOf<T extends { readonly field: string }>(fields: readonly T[]): readonly T[] {
  const telling = fields.filter(({ field }) => field !== NOISE);
  return telling.length === 0 ? fields : telling;
}
