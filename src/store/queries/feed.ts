import type Database from 'better-sqlite3';
import { withReader } from '../connection.ts';
import type { leagueChanges } from '../schema.ts';
import { type BatchLimits, takeBatch } from './batch.ts';

/** `before` and `after` stay JSON text, so that no digit is lost. */
export type Change = typeof leagueChanges.$inferSelect & {
  /** The league's name after the change; the last one of a removed league. */
  readonly league_name: string | null;
};

/** Starts after a `seq`, or with the first change at or after a timestamp, or with the last `newest` changes. */
export type FeedStart = { readonly afterSeq: number } | { readonly sinceAt: string } | { readonly newest: number };

/** Selects the changes of one league, or of one kind. */
export type FeedFilter = {
  readonly leagueId?: string | undefined;
  readonly kind?: Change['kind'] | undefined;
};

/** The changes with `after` < `seq` <= `last` that match the filter. */
export type FeedRange = FeedFilter & { readonly after: number; readonly last: number };

const matches = ({ leagueId, kind }: FeedFilter): string =>
  `${leagueId === undefined ? 'true' : 'league_id = @leagueId'} AND ${kind === undefined ? 'true' : 'kind = @kind'}`;

/** The number of the newest change; 0 if there is none. */
export const lastSeq = (db: Database.Database): number => prepareLastSeq(db)();

function prepareLastSeq(db: Database.Database): () => number {
  const select = db.prepare<[], number | null>('SELECT max(seq) FROM league_changes').pluck();
  return () => select.get() ?? 0;
}

/** Repeats what `read` found last until the feed grows, or an argument changes. */
export function untilFeedGrows<Args extends readonly string[], T>(read: (db: Database.Database, ...args: Args) => T) {
  let last: { readonly key: string; readonly found: T } | undefined;
  return (db: Database.Database, ...args: Args): T => {
    const key = [lastSeq(db), ...args].join(' ');
    if (last?.key !== key) last = { key, found: read(db, ...args) };
    return last.found;
  };
}

/** When a change was stored; undefined if there is no such change. */
export function timeOfChange(db: Database.Database, seq: number): string | undefined {
  return db.prepare<[number], string>('SELECT at FROM league_changes WHERE seq = ?').pluck().get(seq);
}

/** The range of the changes that were stored at this time: those of one poll. */
export function readSeqs(db: Database.Database, at: string): FeedRange {
  const sql = 'SELECT min(seq) - 1 AS after, max(seq) AS last FROM league_changes WHERE at = ?';
  return db.prepare<[string], FeedRange>(sql).get(at) as FeedRange;
}

/** What the worker asks of the feed. */
export const createFeed = (db: Database.Database) => ({
  /** The webhook asks each second. */
  lastSeq: prepareLastSeq(db),
  /** The changes after `seq`, oldest first: at most `limit`, and few more characters than `maxChars`. */
  changesAfter: (seq: number, limits: BatchLimits): readonly Change[] =>
    readBatch(db, { after: seq, last: lastSeq(db) }, limits).entries,
});

/** Whether a league with this id has ever been listed. */
export function hasLeague(db: Database.Database, leagueId: string): boolean {
  return db.prepare<[string]>('SELECT 1 FROM league_changes WHERE league_id = ? LIMIT 1').get(leagueId) !== undefined;
}

/** Finds the range from `start` to the end of the feed. */
export function findRange(db: Database.Database, start: FeedStart, filter: FeedFilter = {}): FeedRange {
  // `at` and `seq` grow together, so the range begins after the last change before the timestamp.
  const sql =
    'sinceAt' in start
      ? 'SELECT seq FROM league_changes WHERE at < @sinceAt ORDER BY at DESC, seq DESC LIMIT 1'
      : `SELECT min(seq) - 1 FROM (
          SELECT seq FROM league_changes WHERE ${matches(filter)} ORDER BY seq DESC LIMIT @newest)`;
  const select = db.prepare<[object], number>(sql).pluck();
  const after = 'afterSeq' in start ? start.afterSeq : (select.get({ ...start, ...filter }) ?? 0);
  return { ...filter, after, last: lastSeq(db) };
}

/** So many characters are far more than usual changes have; huge ones take that much memory. */
export const BATCH: BatchLimits = { limit: 500, maxChars: 4_000_000 };

/** Reads the range in batches to save memory, oldest changes first. Throws a DatabaseError. */
export function* readFeed(path: string, range: FeedRange, limit = Number.POSITIVE_INFINITY) {
  let { after } = range;
  for (let left = limit, more = true; more && left > 0; ) {
    const limits = { ...BATCH, limit: Math.min(left, BATCH.limit) };
    const batch = withReader(path, (db) => readBatch(db, { ...range, after }, limits));
    yield batch.entries;
    left -= batch.entries.length;
    after = batch.entries.at(-1)?.seq ?? after;
    more = batch.more;
  }
}

/** The first entries of the range, oldest first, and whether the range has more. */
export function readBatch(db: Database.Database, range: FeedRange, limits: BatchLimits) {
  const sql = `SELECT seq, run_id, at, league_id, kind, before, after,
      coalesce(after ->> '$.league_name', before ->> '$.league_name') AS league_name
    FROM league_changes WHERE seq > @after AND seq <= @last AND ${matches(range)} ORDER BY seq LIMIT @most`;
  const found = db.prepare<[object], Change>(sql).iterate({ ...range, most: limits.limit + 1 });
  const { rows: entries, more } = takeBatch(
    found,
    limits,
    ({ before, after }) => (before?.length ?? 0) + (after?.length ?? 0),
  );
  return { entries, more };
}

/** A change as programs get it. `before` and `after` are JSON already, and parsing them could lose digits. */
export function changeJson({ seq, run_id, at, league_id, league_name, kind, before, after }: Change): string {
  const [id, name, what] = [league_id, league_name, kind].map((text) => JSON.stringify(text));
  return `{"seq":${seq},"run_id":${run_id},"at":"${at}","league_id":${id},"league_name":${name},"kind":${what},"before":${before},"after":${after}}`;
}
