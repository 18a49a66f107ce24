import type Database from 'better-sqlite3';
import type { drift } from '../schema.ts';
import { selectHeldRemovals } from '../tables/held-removals.ts';

/** Open rejections with the same first problem. */
export type RejectionGroup = {
  /** The problem, as `path message`. */
  readonly problem: string | null;
  readonly elements: number;
  readonly first_seen_at: string;
  /** The first few. */
  readonly examples: readonly Rejection[];
};

type Rejection = {
  readonly league_id: string | null;
  readonly position: number;
  /** The name of the stored league with this id. */
  readonly league_name: string | null;
};

type DriftEntry = Omit<typeof drift.$inferSelect, 'first_run_id' | 'example_league_id'>;

const MAX_ROWS = 20;
const MAX_GROUPS = 8;
const MAX_EXAMPLES = 8;
const MAX_CHARS = 200;

const PROBLEM = `substr(concat_ws(' ', nullif(problems ->> '$[0].path', ''), problems ->> '$[0].message'), 1, ${MAX_CHARS})`;
const GROUPS = `SELECT ${PROBLEM} AS problem, count(*) AS elements, min(first_seen_at) AS first_seen_at
  FROM rejected_leagues WHERE resolved_at IS NULL GROUP BY 1 ORDER BY elements DESC, problem LIMIT ${MAX_GROUPS}`;
const EXAMPLES = `SELECT substr(rejected.league_id, 1, ${MAX_CHARS}) AS league_id, position,
    substr(league_name, 1, ${MAX_CHARS}) AS league_name
  FROM rejected_leagues AS rejected LEFT JOIN leagues ON leagues.league_id = rejected.league_id
  WHERE resolved_at IS NULL AND ${PROBLEM} = ? ORDER BY rejected.id LIMIT ${MAX_EXAMPLES}`;
const DRIFT = `SELECT substr(field, 1, ${MAX_CHARS}) AS field, kind, detail, first_seen_at
  FROM drift ORDER BY first_seen_at DESC, field LIMIT ${MAX_ROWS}`;

export type Issues = ReturnType<typeof readIssues>;

export function readIssues(db: Database.Database) {
  const groups = db.prepare<[], Omit<RejectionGroup, 'examples'>>(GROUPS).all();
  const examplesOf = db.prepare<[string | null], Rejection>(EXAMPLES);
  return {
    held: selectHeldRemovals(db),
    openRejections: count(db, 'rejected_leagues WHERE resolved_at IS NULL'),
    rejections: groups.map((group): RejectionGroup => ({ ...group, examples: examplesOf.all(group.problem) })),
    /** The newest. */
    drift: db.prepare<[], DriftEntry>(DRIFT).all(),
    driftCount: count(db, 'drift'),
  };
}

export const countHeld = (db: Database.Database): number => count(db, 'held_removals');

function count(db: Database.Database, rows: string): number {
  return db.prepare<[], number>(`SELECT count(*) FROM ${rows}`).pluck().get() ?? 0;
}
