import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { codeOf, RefusedError, UsageError } from '../errors.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { compareCopy } from './copy-origin.ts';
import { explainErrors, toDatabaseError } from './database-error.ts';
import { makeFolders } from './database-file.ts';

const READ_BITS = 0o444;
const WRITE_BITS = 0o222;
const GROUP_BITS = 0o070;
const OWNER_READ_WRITE = 0o600;
const STALE_TEMP_MS = 600_000;
/** With the rest, and characters of four bytes, it is still no more than a file name may have. */
const MAX_PREFIX_LENGTH = 40;
/** `writeCopy` reports errors with these codes as errors of the copy, and all others as errors of the database. */
const TARGET_ERRORS = /^E[A-Z]|^SQLITE_(FULL|IOERR|CANTOPEN)/;
/** Error codes from file systems that do not support permissions, hard links, or fsync of a folder. */
const UNSUPPORTED = /^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EINVAL|EMLINK|EISDIR)$/;

/** Copies the database to one fsynced file, `name` in errors. Throws a DatabaseError, also if `target` exists. */
export function writeCopy(db: Database.Database, target: string, name = target): void {
  // VACUUM INTO accepts an empty file, so the copy gets its permissions before it has any content.
  explainErrors(name, () => writeFileSync(target, '', { flag: 'wx', mode: OWNER_READ_WRITE }), 'copy');
  try {
    copyPermissions(target, db.name);
    db.prepare('VACUUM INTO ?').run(target);
    syncToDisk(target);
  } catch (error) {
    removeCopy(target);
    throw TARGET_ERRORS.test(codeOf(error)) ? toDatabaseError(error, name, 'copy') : toDatabaseError(error, db.name);
  }
}

/** Sets the permissions of the copy so that users who cannot read the database cannot read the copy either. */
function copyPermissions(copy: string, path: string): void {
  const { mode, gid } = statSync(path);
  // If the copy cannot get the database's group, the copy gets no group permissions. The groups are compared first,
  // since a sandbox may deny even a chown that changes nothing.
  const hasGroup = statSync(copy).gid === gid || ifSupported(() => chownSync(copy, -1, gid));
  const forReaders = mode & READ_BITS & (hasGroup ? ~0 : ~GROUP_BITS);
  ifSupported(() => chmodSync(copy, forReaders | OWNER_READ_WRITE));
}

/** A unique path beside `target`, for a copy that will be renamed to `target`. */
export function tempPath(target: string): string {
  return join(dirname(target), `${tempPrefix(target)}${randomUUID()}`);
}

const tempPrefix = (target: string): string => `.${basename(target).slice(0, MAX_PREFIX_LENGTH)}.league-sync-part-`;

/** Removes partial copies that killed processes left. Keeps those modified less than `ageMs` ago. */
export function removeStaleTempFiles(target: string, ageMs = STALE_TEMP_MS): void {
  const folder = dirname(target);
  for (const name of readdirSync(folder).filter((found) => found.startsWith(tempPrefix(target)))) {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    if (found !== undefined && found.mtimeMs <= Date.now() - ageMs) rmSync(join(folder, name), { force: true });
  }
}

/** Removes a copy and its journal, if they exist. Throws a DatabaseError. */
export function removeCopy(target: string): void {
  const remove = (file: string): void => rmSync(file, { force: true });
  explainErrors(target, () => [target, `${target}-journal`].forEach(remove), 'copy');
}

/** Which copies may be replaced. `earlier`: those of that `CopyState`. `published`: also read-only `diverged` ones. */
export type Replaceable = 'earlier' | 'published';

type ReplaceOptions = {
  /** The path of the new copy until it is renamed to the target. */
  readonly part: string;
  readonly replaceable: Replaceable;
  /** If the parent is dead, the target is not replaced: the next worker may already have put a newer copy there. */
  readonly isParentAlive: () => boolean;
};

/** Creates or replaces a read-only copy at `target`; sets its mtime to when copying began. Throws a DatabaseError. */
export function replaceCopy(db: Database.Database, target: string, options: ReplaceOptions): void {
  const { part, replaceable, isParentAlive } = options;
  const replace = (): void => {
    assertReplaceable(target, db.name, replaceable);
    makeFolders(dirname(target));
    // A recent one may be in progress, except before an upgrade: the caller holds the worker's lock.
    removeStaleTempFiles(target, replaceable === 'earlier' ? 0 : undefined);
    const at = new Date();
    writeCopy(db, part, target);
    ifSupported(() => utimesSync(part, at, at));
    ifSupported(() => chmodSync(part, statSync(part).mode & READ_BITS));
    assertReplaceable(target, db.name, replaceable);
    if (!isParentAlive()) return;
    renameSync(part, target);
    ifSupported(() => syncToDisk(dirname(target)));
  };
  try {
    explainErrors(target, replace, 'copy');
  } finally {
    // What keeps it from being removed is what failed before.
    tryOrUndefined(() => removeCopy(part));
  }
}

/** Throws a RefusedError if `target` exists and is not a replaceable copy of the database at `path`. */
export function assertReplaceable(target: string, path: string, replaceable: Replaceable): void {
  const fix = 'move it away, or choose another path';
  if (!exists(target)) {
    const left = leftBeside(target);
    if (left === undefined) return;
    throw new RefusedError(`${left} is there without its database, and is left as it is.`, { fix });
  }
  const state = compareCopy(target, path);
  if (state === 'earlier' || (state === 'diverged' && replaceable === 'published' && !isWritable(target))) return;
  const what = state === 'foreign' ? 'is not a copy of the database' : 'has data that is not in the database';
  throw new RefusedError(`${target} ${what} ${path} and is left as it is.`, { fix });
}

/** Whether any write bit is set. Published copies have none; a copy that has one may be in use as a database. */
function isWritable(target: string): boolean {
  return (statSync(target).mode & WRITE_BITS) !== 0;
}

/** Renames the copy to `target`. Throws a UsageError if `target` exists, and a DatabaseError for other failures. */
export function publishNoReplace(copy: string, target: string): void {
  const linkOrRename = (): void => {
    assertAbsent(target);
    try {
      // Unlike renaming, linking fails if the target exists.
      linkSync(copy, target);
    } catch (error) {
      assertAbsent(target);
      if (!UNSUPPORTED.test(codeOf(error))) throw error;
      renameSync(copy, target);
    }
    ifSupported(() => syncToDisk(dirname(target)));
  };
  try {
    explainErrors(target, linkOrRename, 'copy');
  } finally {
    rmSync(copy, { force: true });
  }
}

/** SQLite would apply the WAL or the journal of an earlier file with this name to a new one. */
const leftBeside = (target: string): string | undefined => ['-wal', '-journal'].map((end) => target + end).find(exists);

export function assertAbsent(target: string): void {
  const there = exists(target) ? target : leftBeside(target);
  if (there !== undefined) throw new UsageError(`${there} already exists; choose a path that does not.`);
}

/** True even for a dangling symbolic link. Throws a DatabaseError. */
export function exists(target: string): boolean {
  return explainErrors(target, () => lstatSync(target, { throwIfNoEntry: false }) !== undefined, 'copy');
}

function ifSupported(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (UNSUPPORTED.test(codeOf(error))) return false;
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
