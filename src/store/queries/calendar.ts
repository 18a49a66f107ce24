import type Database from 'better-sqlite3';

/** What changed on one day (UTC), `YYYY-MM-DD`. */
export type Day = {
  readonly day: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly restored: number;
};

/**
 * The days since one on which anything changed, oldest first. By the rows of runs, each of which has counted its
 * changes and is kept for as long as they are: the feed itself may have millions.
 */
export function readDays(db: Database.Database, since: string): readonly Day[] {
  return db.prepare<[string], Day>(DAYS).all(since);
}

/** In the words of the index `runs_with_changes`, so that it answers alone: a run that failed has changed nothing. */
const DAYS = `SELECT substr(finished_at, 1, 10) AS day, sum(added) AS added, sum(changed) AS changed,
    sum(removed) AS removed, sum(restored) AS restored
  FROM runs WHERE kind = 'leagues' AND added + changed + restored + removed > 0 AND finished_at >= ?
  GROUP BY day ORDER BY day`;
