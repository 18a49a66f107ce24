import type Database from 'better-sqlite3';

/** How many rows one transaction reads: it takes some 5 ms, in which the worker answers no request. */
const SLICE_ROWS = 1_000;

/**
 * Keeps running ones, the last success of each kind and scope, those whose Retry-After has not ended, those that other
 * rows refer to, the newest, so that ids are not reused, and the last poll of the leagues, which counts the failures in
 * a row. A run's counts tell whether the feed refers to it: the feed may have millions of rows. Nor is all of `runs`
 * searched for a later success: one that comes only after more than a slice counts at the next deletion.
 */
const DELETE_RUNS = `DELETE FROM runs
  WHERE id > @after AND id <= @last AND started_at < @before AND outcome <> 'running'
    AND (kind = 'profile' OR added + changed + restored + removed = 0)
    AND coalesce(not_before, '') < @now
    AND id NOT IN (SELECT first_run_id FROM rejected_leagues)
    AND id NOT IN (SELECT first_run_id FROM held_removals)
    AND id NOT IN (SELECT first_run_id FROM drift)
    AND id NOT IN (SELECT run_id FROM logins WHERE run_id > @after AND run_id <= @last)
    AND id <> (SELECT max(id) FROM runs) AND id IS NOT (SELECT id FROM last_polls)
    AND coalesce((SELECT failed.started_at FROM runs AS failed
      WHERE failed.kind = 'leagues' AND failed.outcome = 'failed' AND failed.good_run_id = runs.id
      ORDER BY failed.id DESC LIMIT 1), '') < @before
    AND (outcome NOT IN ('changed', 'unchanged', 'held') OR EXISTS (
      SELECT 1 FROM runs AS later WHERE later.id > runs.id AND later.id <= @last + ${SLICE_ROWS}
        AND later.kind = runs.kind AND later.scope IS runs.scope AND later.outcome IN ('changed', 'unchanged', 'held')))`;

const DELETE_LOGINS = `DELETE FROM logins
  WHERE id > @after AND id <= @last AND at < @before AND id <> (SELECT max(id) FROM logins)`;

/** The row to go on after; undefined after the last one that is old. */
type Slice = { readonly deleted: number; readonly next: number | undefined };

/** Deletes rows from before `before`, a slice of the table at a time, the oldest first. Logins before runs. */
export function createPruning(client: Database.Database) {
  const prune = (table: 'runs' | 'logins', time: string, sql: string) => {
    // Rows from after now, when the clock was ahead, must not keep older ones behind them.
    const findEnd = client.prepare<[object], { readonly last: number | null; readonly oldest: string }>(
      `SELECT max(id) AS last, coalesce(min(iif(at > @now, NULL, at)), '') AS oldest
       FROM (SELECT id, ${time} AS at FROM ${table} WHERE id > @after ORDER BY id LIMIT ${SLICE_ROWS})`,
    );
    const deleteSlice = client.prepare<[object]>(sql);
    return (after: number, before: string, now: string): Slice => {
      const { last = null, oldest = '' } = findEnd.get({ after, now }) ?? {};
      if (last === null || oldest >= before) return { deleted: 0, next: undefined };
      return { deleted: deleteSlice.run({ after, last, before, now }).changes, next: last };
    };
  };
  return { logins: prune('logins', 'at', DELETE_LOGINS), runs: prune('runs', 'started_at', DELETE_RUNS) };
}
