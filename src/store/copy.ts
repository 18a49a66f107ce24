import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { codeOf, DatabaseError } from '../errors.ts';
import { toDatabaseError } from './fault.ts';
import { isForeign } from './foreign.ts';
import { readFrom } from './open.ts';

/** Whoever may read the database may read its copies; nobody else may. */
const READING = 0o444;
const OWNER = 0o600;
/** What is beside a database that somebody has open. */
const COMPANIONS = ['.lock', '-wal', '-journal'];
/** What the file system, or SQLite about a file that it writes, says; anything else is about the database itself. */
const ABOUT_TARGET = /^E[A-Z]|^SQLITE_(FULL|IOERR|CANTOPEN)/;

/**
 * Writes a copy of the whole database as it is at this instant: one file, without a log beside it, that is on disk when
 * this returns. `target` must not exist. Blocks for as long as the disk takes. Throws a DatabaseError.
 */
export function writeCopy(db: Database.Database, target: string): void {
  let made = false;
  try {
    // An empty file counts as none, so nobody may ever read more of it than of the database.
    const fd = openSync(target, 'wx', OWNER);
    made = true;
    fchmodSync(fd, (statSync(db.name).mode & READING) | OWNER);
    closeSync(fd);
    db.prepare('VACUUM INTO ?').run(target);
    syncToDisk(target);
  } catch (error) {
    if (made) rmSync(target, { force: true });
    throw toDatabaseError(error, ABOUT_TARGET.test(codeOf(error)) ? target : db.name);
  }
}

/** Puts a copy of the database at `path` into its place, at once, over an earlier one. Throws a DatabaseError. */
export function replaceCopy(copy: string, target: string, path: string): void {
  refuseReplacing(target, path);
  try {
    chmodSync(copy, statSync(copy).mode & READING);
    renameSync(copy, target);
    syncToDisk(dirname(target));
  } catch (error) {
    throw toDatabaseError(error, target);
  }
}

/** Throws a DatabaseError where something is at `target` that is no copy of the database at `path`. */
export function refuseReplacing(target: string, path: string): void {
  if (lstatSync(target, { throwIfNoEntry: false }) === undefined || isCopy(target, path)) return;
  throw new DatabaseError(
    `What is at ${target} is no copy of the database ${path}, so it is left as it is; move it away, or name another place.`,
  );
}

/** Whether a copy of the database at `path` is at `target`, and nobody has it in use as a database. */
export function isCopy(target: string, path: string): boolean {
  if (lstatSync(target, { throwIfNoEntry: false })?.isFile() !== true || isSameFile(target, path)) return false;
  if (isForeign(target) || COMPANIONS.some((suffix) => existsSync(target + suffix))) return false;
  const origin = originOf(target);
  return origin !== undefined && origin === originOf(path);
}

/** Throws a DatabaseError where one of them is not there. */
function isSameFile(one: string, other: string): boolean {
  try {
    const [first, second] = [statSync(one, { bigint: true }), statSync(other, { bigint: true })];
    return first.dev === second.dev && first.ino === second.ino;
  } catch (error) {
    throw toDatabaseError(error, other);
  }
}

/** When the first step of the schema was applied: the same in a database and in its copies. */
function originOf(path: string): string | undefined {
  try {
    const sql = 'SELECT applied_at FROM schema_migrations ORDER BY version LIMIT 1';
    return readFrom(path, (db) => db.prepare<[], { applied_at: string }>(sql).get()?.applied_at);
  } catch {
    // Whatever it is, it is not known to be a copy.
    return undefined;
  }
}

function syncToDisk(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
