import type Database from 'better-sqlite3';
import { withReader } from '../connection.ts';
import type { Change } from '../tables/leagues.ts';

/** One change of the feed. JSON is text, so that no digit is lost. */
export type FeedEntry = {
  readonly seq: number;
  readonly run_id: number;
  readonly at: string;
  readonly league_id: string;
  readonly kind: Change['kind'];
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

const ofLeague = (leagueId: string | undefined): string => (leagueId === undefined ? 'true' : 'league_id = @leagueId');

/** Finds the stretch from `start` to the present end of the feed. */
export function findStretch(db: Database.Database, start: FeedStart, leagueId?: string): FeedStretch {
  const one = (sql: string): number =>
    db
      .prepare<[object], number>(sql)
      .pluck()
      .get({ ...start, leagueId }) ?? 0;
  const findStart = (): number => {
    if ('afterSeq' in start) return start.afterSeq;
    // Both only grow, so that the last one before the instant is the one with the largest number.
    if ('sinceAt' in start)
      return one('SELECT seq FROM league_changes WHERE at < @sinceAt ORDER BY at DESC, seq DESC LIMIT 1');
    return one(`SELECT min(seq) - 1 FROM (
      SELECT seq FROM league_changes WHERE ${ofLeague(leagueId)} ORDER BY seq DESC LIMIT @newest)`);
  };
  return { after: findStart(), last: one('SELECT max(seq) FROM league_changes'), leagueId };
}

export type FeedOptions = {
  /** As many entries at the most. */
  readonly most: number;
  /** Whether `fields` is wanted; it costs more than all the rest. */
  readonly fields: boolean;
};

/** Entries that are read at once, so that a feed of any length takes little memory and holds up no one. */
const PAGE = 500;

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
  const sql = `SELECT seq, run_id, at, league_id, kind, before, after,
      coalesce(before ->> '$.league_name', after ->> '$.league_name') AS league_name
    FROM league_changes WHERE seq > @after AND seq <= @last AND ${ofLeague(stretch.leagueId)} ORDER BY seq LIMIT @most`;
  const rows = db.prepare<[object], Omit<FeedEntry, 'fields'>>(sql).all({ ...stretch, most });
  const fieldsOf = db
    .prepare<[number], FeedEntry['fields'][number]>(
      'SELECT field, old_value AS old, new_value AS now FROM league_field_changes WHERE seq = ?',
    )
    .safeIntegers(true);
  return rows.map((row) => ({ ...row, fields: fields ? fieldsOf.all(row.seq) : [] }));
}

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

/** The newest changes that fit, newest first. */
export function readRecent(db: Database.Database, filter: RecentFilter, limit: number): readonly RecentChange[] {
  const { before, day, leagueId } = filter;
  const isWanted = [
    ofLeague(leagueId),
    ...(before === undefined ? [] : ['seq < @before']),
    // A tilde sorts after every time of the day.
    ...(day === undefined ? [] : ["at >= @day AND at < @day || 'T~'"]),
  ].join(' AND ');
  // Both only grow, and each is looked up by what is asked for.
  const order = day === undefined && leagueId === undefined ? 'seq DESC' : 'at DESC, seq DESC';
  const rows = db
    .prepare<[object], Omit<RecentChange, 'fields'>>(
      `SELECT seq, at, kind, league_id,
          substr(coalesce(after ->> '$.league_name', before ->> '$.league_name'), 1, ${LONGEST_SHOWN}) AS league_name
        FROM league_changes WHERE ${isWanted} ORDER BY ${order} LIMIT @limit`,
    )
    .all({ ...filter, limit });
  const fieldsOf = db.prepare<[number], FieldChange>(
    `SELECT field, substr(CAST(old_value AS TEXT), 1, ${LONGEST_SHOWN}) AS old,
        substr(CAST(new_value AS TEXT), 1, ${LONGEST_SHOWN}) AS now
      FROM league_field_changes WHERE seq = ?`,
  );
  return rows.map((row) => ({ ...row, fields: fieldsOf.all(row.seq) }));
}

/** What changed on one day (UTC), `YYYY-MM-DD`. */
export type Day = { readonly day: string } & Readonly<Record<Change['kind'], number>>;

/**
 * The days since one on which anything changed, oldest first. By the rows of runs, each of which has counted its changes
 * and is kept for as long as they are: the feed itself may have millions. In the words of the index `runs_with_changes`,
 * so that it answers alone: a run that failed has changed nothing.
 */
export function readDays(db: Database.Database, since: string): readonly Day[] {
  const sql = `SELECT substr(finished_at, 1, 10) AS day, sum(added) AS added, sum(changed) AS changed,
      sum(removed) AS removed, sum(restored) AS restored
    FROM runs WHERE kind = 'leagues' AND added + changed + restored + removed > 0 AND finished_at >= ?
    GROUP BY day ORDER BY day`;
  return db.prepare<[string], Day>(sql).all(since);
}

/** What a change tells of: the service's own time of change, which goes with any other, only if nothing else did. */
export function tellingOf<T extends { readonly field: string }>(fields: readonly T[]): readonly T[] {
  const telling = fields.filter(({ field }) => field !== 'last_update_datetime');
  return telling.length === 0 ? fields : telling;
}
