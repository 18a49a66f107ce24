import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { codeOf, DatabaseError, UsageError } from '../errors.ts';
import { explained, toDatabaseError } from './database-error.ts';
import { makeFolders } from './database-file.ts';
import { isOutdated, kinshipOf } from './origin.ts';

/** Those who may read the database may read its copies, and nobody else. */
const READING = 0o444;
const WRITING = 0o222;
const GROUP = 0o070;
const OWNER = 0o600;
const OLD_PART_MS = 600_000;
/** What the file system, or SQLite about a file that it writes, says; anything else is about the database itself. */
const ABOUT_TARGET = /^E[A-Z]|^SQLITE_(FULL|IOERR|CANTOPEN)/;
/** What a file system says that does not know what is asked of it: permissions, a second name, the sync of a folder. */
const UNKNOWN_THERE = /^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EINVAL|EMLINK|EISDIR)$/;

/**
 * Writes a copy of the whole database as it is at this instant: one file, without a WAL beside it, that is on disk when
 * this returns. `target` must not exist. Blocks for as long as the disk takes. Throws a DatabaseError.
 */
export function writeCopy(db: Database.Database, target: string): void {
  let made = false;
  try {
    // An empty file counts as none, so nobody may ever read more of it than of the database.
    const fd = openSync(target, 'wx', OWNER);
    made = true;
    try {
      copyPermissions(fd, db.name);
    } finally {
      closeSync(fd);
    }
    db.prepare('VACUUM INTO ?').run(target);
    syncToDisk(target);
  } catch (error) {
    if (made) removeCopy(target);
    throw ABOUT_TARGET.test(codeOf(error)) ? toDatabaseError(error, target, 'copy') : toDatabaseError(error, db.name);
  }
}

/** Lets those read a file who may read the other. */
function copyPermissions(fd: number, path: string): void {
  const { mode, gid } = statSync(path);
  // If the copy cannot be given the group, no group may read it. A sandbox may forbid to give the group that it has, too.
  const hasGroup = fstatSync(fd).gid === gid || ignoreUnsupported(() => fchownSync(fd, -1, gid));
  const forReaders = mode & READING & (hasGroup ? ~0 : ~GROUP);
  ignoreUnsupported(() => fchmodSync(fd, forReaders | OWNER));
}

/**
 * Where a copy is made that takes the place of an earlier one: beside it, under a name that is nobody else's, another
 * each time.
 */
export function partOf(target: string): string {
  return join(dirname(target), `${partPrefix(target)}${randomUUID()}`);
}

const partPrefix = (target: string): string => `.${basename(target)}.league-sync-part-`;

/** What killed processes have left is removed by the next; one that copies writes all the time. */
function removeOldParts(target: string): void {
  const folder = dirname(target);
  for (const name of readdirSync(folder).filter((found) => found.startsWith(partPrefix(target)))) {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    if (found !== undefined && found.mtimeMs < Date.now() - OLD_PART_MS) rmSync(join(folder, name), { force: true });
  }
}

/** Removes a copy that was begun, and the journal that SQLite keeps while it writes one. Throws a DatabaseError. */
export function removeCopy(target: string): void {
  const remove = (file: string): void => rmSync(file, { force: true });
  explained(target, () => [target, `${target}-journal`].forEach(remove), 'copy');
}

/**
 * Which copies of a database may be replaced: those of an `earlier` state; or `published` ones that have diverged as
 * well, as they do when the database is restored.
 */
export type Replaceable = 'earlier' | 'published';

export type ReplaceOptions = {
  /** Where the copy is made before it takes its place. */
  readonly part: string;
  readonly replaceable: Replaceable;
};

/**
 * Makes a copy at `target`, at once, over an earlier one. It is dated by the instant that it shows. Throws a
 * DatabaseError, and leaves what is there, where that is anything else.
 */
export function replaceCopy(db: Database.Database, target: string, { part, replaceable }: ReplaceOptions): void {
  const replace = (): void => {
    refuseReplacing(target, db.name, replaceable);
    makeFolders(dirname(target));
    removeOldParts(target);
    const at = new Date();
    writeCopy(db, part);
    ignoreUnsupported(() => utimesSync(part, at, at));
    ignoreUnsupported(() => chmodSync(part, statSync(part).mode & READING));
    refuseReplacing(target, db.name, replaceable);
    if (isOutdated(part, target, db.name)) return;
    renameSync(part, target);
    ignoreUnsupported(() => syncToDisk(dirname(target)));
  };
  try {
    explained(target, replace, 'copy');
  } finally {
    removeCopy(part);
  }
}

/** Throws a DatabaseError where something is at `target` that is no such copy of the database at `path`. */
export function refuseReplacing(target: string, path: string, replaceable: Replaceable): void {
  if (!isThere(target)) return;
  const kinship = kinshipOf(target, path);
  if (kinship === 'earlier' || (kinship === 'diverged' && replaceable === 'published' && !isWritable(target))) return;
  const what = kinship === 'foreign' ? 'is no copy of the database' : 'holds what is not in the database';
  throw new DatabaseError(`What is at ${target} ${what} ${path}, and is left as it is.`, {
    fix: 'move it away, or name another place',
  });
}

/** Published copies are not: that tells them from a database that was made from a copy and went on by itself. */
export function isWritable(target: string): boolean {
  return (statSync(target).mode & WRITING) !== 0;
}

/** Gives the copy its name. Throws a UsageError where something has that name, and a DatabaseError. */
export function nameCopy(copy: string, target: string): void {
  try {
    explained(target, () => linkOrRename(copy, target), 'copy');
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
  ignoreUnsupported(() => syncToDisk(dirname(target)));
}

/** Throws a UsageError where something is at `target`, and a DatabaseError. */
export function refuseExisting(target: string): void {
  if (isThere(target)) throw new UsageError(`There is something at ${target} already; name a path where nothing is.`);
}

/** Whether anything has this name, a link that leads nowhere included. */
export function isThere(target: string): boolean {
  return explained(target, () => lstatSync(target, { throwIfNoEntry: false }) !== undefined, 'copy');
}

/** Does what some file systems do not know, and says whether this one did. */
function ignoreUnsupported(work: () => void): boolean {
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
