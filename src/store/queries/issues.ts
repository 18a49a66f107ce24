import type Database from 'better-sqlite3';

/** What somebody may have to look at: elements that could not be stored, and departures from the interface. */
export type Troubles = {
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

/** The newest of each. */
export function readTroubles(db: Database.Database): Troubles {
  const countOpen = (which: string): number =>
    db.prepare<[], number>(`SELECT count(*) FROM rejected_leagues WHERE resolved_at IS NULL ${which}`).pluck().get() ??
    0;
  return {
    openRejections:
      db.prepare<[], number>('SELECT count(*) FROM rejected_leagues WHERE resolved_at IS NULL').pluck().get() ?? 0,
    unidentified: countOpen('AND league_id IS NULL'),
    rejections: db
      .prepare<[], Rejection>(
        `SELECT id, substr(league_id, 1, ${LONGEST_SHOWN}) AS league_id, position, first_seen_at,
            json_array_length(problems) AS problems,
            substr(concat_ws(': ', nullif(problems ->> '$[0].path', ''), problems ->> '$[0].message'), 1, ${LONGEST_SHOWN}) AS problem
          FROM rejected_leagues WHERE resolved_at IS NULL ORDER BY id DESC LIMIT ${MOST_SHOWN}`,
      )
      .all(),
    drift: db
      .prepare<[], DriftEntry>(
        `SELECT substr(field, 1, ${LONGEST_SHOWN}) AS field, kind, detail, first_seen_at
          FROM drift ORDER BY first_seen_at DESC, field LIMIT ${MOST_SHOWN}`,
      )
      .all(),
  };
}
