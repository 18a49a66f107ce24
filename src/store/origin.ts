import { existsSync, lstatSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { besides } from '../config/database.ts';
import { readFrom } from './connection.ts';
import { toDatabaseError } from './database-error.ts';
import { hasWalMark, isForeign } from './foreign.ts';
import { inodeOf } from './identity.ts';

/**
 * What a file is to a database: a copy of an `earlier` state of it, or of the present one; a copy that has `diverged`,
 * since the database was restored from a backup, or the copy was written to; or `foreign`: no copy of it, or in use.
 */
export type Kinship = 'earlier' | 'diverged' | 'foreign';

/**
 * Tells what the file at `target` is to the database at `path`. Throws a DatabaseError where the database cannot be
 * read.
 */
export function kinshipOf(target: string, path: string): Kinship {
  if (lstatSync(target, { throwIfNoEntry: false })?.isFile() !== true || isSameFile(target, path)) return 'foreign';
  // Copies have no log; to open one that has would make companions beside it.
  if (isForeign(target) || hasWalMark(target)) return 'foreign';
  if (besides(target).some((file) => existsSync(file))) return 'foreign';
  const copied = readIfDatabase(target);
  if (copied === undefined) return 'foreign';
  return readFrom(path, (db) => compare(db, copied));
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
  /** When the first run was begun; null where there was none yet, or its row is deleted. */
  readonly firstRunAt: string | null;
  /** Instant and league of the first change. */
  readonly firstChange: string | null;
  readonly lastRun: number;
  readonly lastRunAt: string | null;
  readonly lastChange: number;
  readonly lastChangeAt: string | null;
};

const STATE = `SELECT (SELECT applied_at FROM schema_migrations ORDER BY version LIMIT 1) AS madeAt,
    (SELECT started_at FROM runs WHERE id = 1) AS firstRunAt,
    (SELECT at || ' ' || league_id FROM league_changes ORDER BY seq LIMIT 1) AS firstChange,
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

function compare(db: Database.Database, state: State): Kinship {
  const own = db.prepare<[], State>(STATE).get();
  if (own === undefined || !haveOneOrigin(own, state)) return 'foreign';
  return hasState(db, own, state) ? 'earlier' : 'diverged';
}

/** Two databases begin at different instants, and go on differently; a backup may be from before the first rows. */
function haveOneOrigin(one: State, other: State): boolean {
  const agree = (first: string | null, second: string | null): boolean =>
    first === null || second === null || first === second;
  return (
    one.madeAt === other.madeAt && agree(one.firstRunAt, other.firstRunAt) && agree(one.firstChange, other.firstChange)
  );
}

/** Whether this database has come by that state. Old runs are deleted in time, changes never are. */
function hasState(db: Database.Database, own: State, state: State): boolean {
  const run = db.prepare<[number], string>('SELECT started_at FROM runs WHERE id = ?').pluck().get(state.lastRun);
  const change = db.prepare<[number], string>('SELECT at FROM league_changes WHERE seq = ?').pluck();
  return (
    state.lastRun <= own.lastRun &&
    (run === undefined || run === state.lastRunAt) &&
    (change.get(state.lastChange) ?? null) === state.lastChangeAt
  );
}
