import { existsSync, lstatSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { besides } from '../config/database.ts';
import { toDatabaseError } from './fault.ts';
import { hasWalMark, isForeign } from './foreign.ts';
import { inodeOf } from './identity.ts';
import { readFrom } from './open.ts';

/**
 * Whether there is a copy of the database at `path` at `target` that holds nothing which the database does not hold,
 * and that nobody has in use as a database. Throws a DatabaseError where the database cannot be read.
 */
export function isCopy(target: string, path: string): boolean {
  if (lstatSync(target, { throwIfNoEntry: false })?.isFile() !== true || isSameFile(target, path)) return false;
  // Copies have no log; to open one that has would make companions beside it.
  if (isForeign(target) || hasWalMark(target)) return false;
  if (besides(target).some((file) => existsSync(file))) return false;
  const copied = readIfDatabase(target);
  if (copied === undefined) return false;
  return readFrom(path, (db) => isPartOf(db, copied));
}

/** Whether the copy at `one` shows a later state than the copy at `other`. */
export function isLater(one: string, other: string): boolean {
  const [first, second] = [readIfDatabase(one), readIfDatabase(other)];
  if (first === undefined || second === undefined) return false;
  return first.lastRun > second.lastRun || first.lastChange > second.lastChange;
}

/** Throws a DatabaseError where one of them cannot be looked at. */
function isSameFile(one: string, other: string): boolean {
  try {
    return inodeOf(one) === inodeOf(other);
  } catch (error) {
    throw toDatabaseError(error, other);
  }
}

/** What tells a database from others, and one state of it from a later one. */
type State = {
  /** When the first step of the schema was applied. */
  readonly madeAt: string;
  readonly lastRun: number;
  readonly lastRunAt: string | null;
  readonly lastChange: number;
  readonly lastChangeAt: string | null;
};

const STATE = `SELECT (SELECT applied_at FROM schema_migrations ORDER BY version LIMIT 1) AS madeAt,
    coalesce(run.id, 0) AS lastRun, run.started_at AS lastRunAt,
    coalesce(change.seq, 0) AS lastChange, change.at AS lastChangeAt
  FROM (SELECT 1) LEFT JOIN (SELECT id, started_at FROM runs ORDER BY id DESC LIMIT 1) AS run
    LEFT JOIN (SELECT seq, at FROM league_changes ORDER BY seq DESC LIMIT 1) AS change`;

/** Undefined where it is no database of this program. */
function readIfDatabase(path: string): State | undefined {
  try {
    return readFrom(path, (db) => db.prepare<[], State>(STATE).get());
  } catch {
    return undefined;
  }
}

/** Whether this database has come by that state. Old runs are deleted in time, changes never are. */
function isPartOf(db: Database.Database, state: State): boolean {
  const own = db.prepare<[], State>(STATE).get();
  const run = db.prepare<[number], string>('SELECT started_at FROM runs WHERE id = ?').pluck().get(state.lastRun);
  const change = db.prepare<[number], string>('SELECT at FROM league_changes WHERE seq = ?').pluck();
  return (
    own?.madeAt === state.madeAt &&
    state.lastRun <= own.lastRun &&
    (run === undefined || run === state.lastRunAt) &&
    (change.get(state.lastChange) ?? null) === state.lastChangeAt
  );
}
