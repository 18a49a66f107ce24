import type Database from 'better-sqlite3';
import type { drift, rejectedLeagues } from '../schema.ts';

type Rejection = Pick<typeof rejectedLeagues.$inferSelect, 'id' | 'league_id' | 'position' | 'first_seen_at'> & {
  /** The first problem, as `path message`. */
  readonly problem: string | null;
  readonly problems: number;
};

type DriftEntry = Omit<typeof drift.$inferSelect, 'first_run_id'>;

const MAX_ROWS = 20;
const MAX_CHARS = 200;

const REJECTIONS = `SELECT id, substr(league_id, 1, ${MAX_CHARS}) AS league_id, position, first_seen_at,
    json_array_length(problems) AS problems,
    substr(concat_ws(' ', nullif(problems ->> '$[0].path', ''), problems ->> '$[0].message'), 1, ${MAX_CHARS}) AS problem
  FROM rejected_leagues WHERE resolved_at IS NULL ORDER BY id DESC LIMIT ${MAX_ROWS}`;
const DRIFT = `SELECT substr(field, 1, ${MAX_CHARS}) AS field, kind, detail, first_seen_at
  FROM drift ORDER BY first_seen_at DESC, field LIMIT ${MAX_ROWS}`;

/** The newest open rejections and drift, and the number of open rejections: in total, and without a `league_id`. */
export function readIssues(db: Database.Database) {
  return {
    openRejections: count(db, 'resolved_at IS NULL'),
    unidentified: countUnidentified(db),
    rejections: db.prepare<[], Rejection>(REJECTIONS).all(),
    drift: db.prepare<[], DriftEntry>(DRIFT).all(),
  };
}

/** Counts elements of the last list without a readable `league_id`. While there are any, all removals are held. */
export const countUnidentified = (db: Database.Database): number =>
  count(
    db,
    `resolved_at IS NULL AND league_id IS NULL AND scope = (SELECT scope FROM runs
      WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held') ORDER BY id DESC LIMIT 1)`,
  );

function count(db: Database.Database, where: string): number {
  return db.prepare<[], number>(`SELECT count(*) FROM rejected_leagues WHERE ${where}`).pluck().get() ?? 0;
}
