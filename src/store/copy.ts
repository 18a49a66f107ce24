import {
  chmodSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { codeOf, DatabaseError, UsageError } from '../errors.ts';
import { toDatabaseError } from './fault.ts';
import { isCopy } from './origin.ts';

/** Whoever may read the database may read its copies; nobody else may. */
const READING = 0o444;
const GROUP = 0o070;
const OWNER = 0o600;
/** What the file system, or SQLite about a file that it writes, says; anything else is about the database itself. */
const ABOUT_TARGET = /^E[A-Z]|^SQLITE_(FULL|IOERR|CANTOPEN)/;
/** What a file system says that does not know what is asked of it: permissions, a second name, the sync of a folder. */
const UNKNOWN_THERE = /^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EINVAL|EMLINK|EISDIR)$/;

/**
 * Writes a copy of the whole database as it is at this instant: one file, without a log beside it, that is on disk when
 * this returns its inode. `target` must not exist. Blocks for as long as the disk takes. Throws a DatabaseError.
 */
export function writeCopy(db: Database.Database, target: string): number {
  let made: number | undefined;
  try {
    // An empty file counts as none, so nobody may ever read more of it than of the database.
    const fd = openSync(target, 'wx', OWNER);
    made = fstatSync(fd).ino;
    try {
      takeRights(fd, db.name);
    } finally {
      closeSync(fd);
    }
    db.prepare('VACUUM INTO ?').run(target);
    syncToDisk(target);
    return made;
  } catch (error) {
    if (made !== undefined) removeCopy(target);
    throw ABOUT_TARGET.test(codeOf(error)) ? toDatabaseError(error, target, 'copy') : toDatabaseError(error, db.name);
  }
}

/** Lets those read a file who may read the other. */
function takeRights(fd: number, path: string): void {
  const { mode, gid } = statSync(path);
  // Whose group cannot be given to the copy may not read it by its group.
  const group = allow(() => fchownSync(fd, -1, gid)) ? GROUP : 0;
  allow(() => fchmodSync(fd, (mode & READING & ~(GROUP & ~group)) | OWNER));
}

/** Where a copy is made that takes the place of an earlier one: beside it, under a name that is nobody else's. */
export function partOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.league-sync-part`);
}

/** Removes a copy that was begun, and the journal that SQLite keeps while it writes one. Throws a DatabaseError. */
export function removeCopy(target: string): void {
  try {
    for (const file of [target, `${target}-journal`]) rmSync(file, { force: true });
  } catch (error) {
    throw toDatabaseError(error, target, 'copy');
  }
}

/**
 * Makes a copy at `target`, at once, over an earlier one. Throws a DatabaseError, and leaves what is there, where that
 * is anything else.
 */
export function replaceCopy(db: Database.Database, target: string): void {
  refuseReplacing(target, db.name);
  makeFolder(target);
  const part = partOf(target);
  removeCopy(part);
  const made = writeCopy(db, part);
  try {
    refuseReplacing(target, db.name);
    // Another process has begun anew meanwhile: this one was given up by whoever started it.
    if (lstatSync(part, { throwIfNoEntry: false })?.ino !== made) return;
    allow(() => chmodSync(part, statSync(part).mode & READING));
    renameSync(part, target);
    allow(() => syncToDisk(dirname(target)));
  } catch (error) {
    removeCopy(part);
    throw toDatabaseError(error, target, 'copy');
  }
}

function makeFolder(target: string): void {
  try {
    mkdirSync(dirname(target), { recursive: true });
  } catch (error) {
    throw toDatabaseError(error, target, 'copy');
  }
}

/** Throws a DatabaseError where something is at `target` that is no copy of the database at `path`. */
function refuseReplacing(target: string, path: string): void {
  if (!isThere(target) || isCopy(target, path)) return;
  throw new DatabaseError(
    `What is at ${target} is no copy of the database ${path}, or holds more than that; it is left as it is. Move it away, or name another place.`,
  );
}

/** Gives the copy its name. Throws a UsageError where something has that name, and a DatabaseError. */
export function nameCopy(copy: string, target: string): void {
  try {
    linkOrRename(copy, target);
    allow(() => syncToDisk(dirname(target)));
  } catch (error) {
    throw error instanceof UsageError ? error : toDatabaseError(error, target, 'copy');
  } finally {
    rmSync(copy, { force: true });
  }
}

/** A second name, unlike a new one, fails where something has come into being there meanwhile. */
function linkOrRename(copy: string, target: string): void {
  refuseExisting(target);
  try {
    linkSync(copy, target);
  } catch (error) {
    refuseExisting(target);
    if (!UNKNOWN_THERE.test(codeOf(error))) throw error;
    renameSync(copy, target);
  }
}

/** Throws a UsageError where something is at `target`, and a DatabaseError. */
export function refuseExisting(target: string): void {
  if (isThere(target)) throw new UsageError(`There is something at ${target} already; name a path where nothing is.`);
}

/** Whether anything has this name, a link that leads nowhere included. */
export function isThere(target: string): boolean {
  try {
    return lstatSync(target, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw toDatabaseError(error, target, 'copy');
  }
}

/** Does what some file systems do not know, and says whether this one did. */
function allow(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (UNKNOWN_THERE.test(codeOf(error))) return false;
    throw error;
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
