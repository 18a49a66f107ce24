import { existsSync, lstatSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { besides } from '../config/paths.ts';
import { withOwnReader, withReader } from './connection.ts';
import { explained } from './database-error.ts';
import { APPLICATION_ID, inodeOf, readHeader } from './database-file.ts';

/**
 * What a file is to a database: a copy of an `earlier` state of it, or of the present one; a copy that has `diverged`,
 * since the database was restored from a backup, or the copy was written to; or `foreign`: no copy of it, or in use.
 */
export type Kinship = 'earlier' | 'diverged' | 'foreign';

/**
 * Tells what the file at `target` is to the database of ours at `path`. Throws a DatabaseError where the database cannot
 * be read.
 */
export function kinshipOf(target: string, path: string): Kinship {
  if (lstatSync(target, { throwIfNoEntry: false })?.isFile() !== true || isSameFile(target, path)) return 'foreign';
  const header = readHeader(target);
  // Copies have no WAL; to open one that has would make files beside it.
  if (header?.applicationId !== APPLICATION_ID || header.hasWalMark) return 'foreign';
  if (besides(target).some((file) => existsSync(file))) return 'foreign';
  const copied = readState(target);
  return copied === undefined ? 'foreign' : withOwnReader(path, (db) => compare(db, copied));
}

/**
 * Whether the copy at `part` comes too late to be put at `target`: a process that outlives its worker may come after the
 * next worker's, and after the database at `path` was restored.
 */
export function isOutdated(part: string, target: string, path: string): boolean {
  if (kinshipOf(part, path) !== 'earlier') return true;
  return kinshipOf(target, path) === 'earlier' && isLater(target, part);
}

/** Whether the copy at `one` shows a later state than the copy at `other`. */
function isLater(one: string, other: string): boolean {
  const [first, second] = [readState(one), readState(other)];
  if (first === undefined || second === undefined) return false;
  return first.lastRun > second.lastRun || first.lastChange > second.lastChange;
}

/** Throws a DatabaseError where one of them cannot be looked at. */
function isSameFile(one: string, other: string): boolean {
  return explained(other, () => inodeOf(one) === inodeOf(other));
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
function readState(path: string): State | undefined {
  try {
    return withReader(path, (db) => db.prepare<[], State>(STATE).get());
  } catch {
    return undefined;
  }
}

function compare(db: Database.Database, copied: State): Kinship {
  const own = db.prepare<[], State>(STATE).get();
  if (own === undefined || !haveOneOrigin(own, copied)) return 'foreign';
  return hadState(db, own, copied) ? 'earlier' : 'diverged';
}

/** Two databases begin at different instants, and go on differently; a backup may be from before the first rows. */
function haveOneOrigin(one: State, other: State): boolean {
  const agree = (first: string | null, second: string | null): boolean =>
    first === null || second === null || first === second;
  return (
    one.madeAt === other.madeAt && agree(one.firstRunAt, other.firstRunAt) && agree(one.firstChange, other.firstChange)
  );
}

/** Whether `copied` is an earlier state of this database. The run may have been pruned; changes never are. */
function hadState(db: Database.Database, own: State, copied: State): boolean {
  const run = db.prepare<[number], string>('SELECT started_at FROM runs WHERE id = ?').pluck().get(copied.lastRun);
  const change = db.prepare<[number], string>('SELECT at FROM league_changes WHERE seq = ?').pluck();
  return (
    copied.lastRun <= own.lastRun &&
    (run === undefined || run === copied.lastRunAt) &&
    (change.get(copied.lastChange) ?? null) === copied.lastChangeAt
  );
}
