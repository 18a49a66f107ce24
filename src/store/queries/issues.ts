import type Database from 'better-sqlite3';

/** What somebody may have to look at: elements that could not be stored, and departures from the interface. */
export type OpenIssues = {
  readonly openRejections: number;
  /** Those of which nobody can say which league they are: while there are any, no removal is applied. */
  readonly unidentified: number;
  readonly rejections: readonly Rejection[];
  readonly drift: readonly DriftEntry[];
};

export type Rejection = {
  readonly id: number;
  readonly league_id: string | null;
  readonly position: number;
  /** The first problem, as `path: message`. */
  readonly problem: string | null;
  readonly problems: number;
  readonly first_seen_at: string;
};

export type DriftEntry = {
  readonly field: string;
  readonly kind: string;
  readonly detail: string | null;
  readonly first_seen_at: string;
};

const MOST_SHOWN = 20;
const LONGEST_SHOWN = 200;

const COUNTS = `SELECT count(*) AS openRejections, count(*) FILTER (WHERE league_id IS NULL) AS unidentified
  FROM rejected_leagues WHERE resolved_at IS NULL`;
const REJECTIONS = `SELECT id, substr(league_id, 1, ${LONGEST_SHOWN}) AS league_id, position, first_seen_at,
    json_array_length(problems) AS problems,
    substr(concat_ws(': ', nullif(problems ->> '$[0].path', ''), problems ->> '$[0].message'), 1, ${LONGEST_SHOWN}) AS problem
  FROM rejected_leagues WHERE resolved_at IS NULL ORDER BY id DESC LIMIT ${MOST_SHOWN}`;
const DRIFT = `SELECT substr(field, 1, ${LONGEST_SHOWN}) AS field, kind, detail, first_seen_at
  FROM drift ORDER BY first_seen_at DESC, field LIMIT ${MOST_SHOWN}`;

/** The newest of each. */
export function readIssues(db: Database.Database): OpenIssues {
  const counts = db.prepare<[], Pick<OpenIssues, 'openRejections' | 'unidentified'>>(COUNTS).get();
  return {
    ...(counts ?? { openRejections: 0, unidentified: 0 }),
    rejections: db.prepare<[], Rejection>(REJECTIONS).all(),
    drift: db.prepare<[], DriftEntry>(DRIFT).all(),
  };
}
