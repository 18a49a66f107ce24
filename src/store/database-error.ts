import { accessSync, constants } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { codeOf, DatabaseError, LockedError } from '../errors.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { freeSpace } from './free-space.ts';

/** The first entry whose pattern matches the error code applies. */
const KNOWN_ERRORS: readonly (readonly [code: RegExp, what: string, fix: string])[] = [
  [/^SQLITE_(BUSY|LOCKED)/, 'is in use by another program', 'wait for that program, or end it'],
  [/^SQLITE_FULL|^SQLITE_IOERR_SHMSIZE|^ENOSPC|^EDQUOT/, 'cannot grow: the disk is full', 'free some space'],
  [/^EBUSY/, 'cannot be replaced: the file itself is a mount', 'mount its folder instead of the file'],
  [/EROFS/, 'is on a read-only file system', 'remount it read-write, or choose a path on another one'],
  [
    /^E[MN]FILE/,
    'cannot be opened: too many files are open',
    'raise the limit (ulimit -n), or stop the program that has them open',
  ],
  [/^SQLITE_READONLY|EACCES|EPERM/, 'cannot be written', 'give this user write permission on the file and its folder'],
  [
    /^SQLITE_CANTOPEN|^ENOENT|^ENOTDIR|^EISDIR|^ELOOP|^ENAMETOOLONG/,
    'cannot be opened',
    'check its path, and the permissions of the file and its folder',
  ],
  [/^SQLITE_NOTADB/, 'is not an SQLite database', 'name another file, or restore this one from a backup'],
  [
    /^SQLITE_CORRUPT/,
    'is damaged',
    'set it aside and restore a backup, or rescue what is left (docs/operations.md, "Rescue a damaged database")',
  ],
  [/^SQLITE_IOERR|^EIO/, 'could not be read or written (I/O error)', 'check the disk'],
];

const NO_INODES = [/^/, 'cannot be created: the disk has no inodes left', 'delete files that are not needed'] as const;

const FIX_TRIGGER = 'if another program added a trigger or a view to it, drop that; league-sync check names it';

const UNREADABLE = [
  /EACCES/,
  'cannot be read',
  'give this user permission to read it (the worker: and to write it), and to enter its folder',
] as const;

type Thing = 'database' | 'copy';

/** Turns errors of SQLite, the file system and the lock into a DatabaseError, with a fix if known; rethrows others. */
export function explainErrors<T>(path: string, work: () => T, thing?: Thing): T {
  try {
    return work();
  } catch (error) {
    const isKnown = error instanceof LockedError || /^(SQLITE_|E[A-Z0-9]+$)/.test(codeOf(error));
    throw isKnown ? toDatabaseError(error, path, thing) : error;
  }
}

/** The error for the file that the user knows, of one about a copy of it; any other error as it is. */
export function aboutFile(error: unknown, copy: string, file: string): unknown {
  if (!(error instanceof DatabaseError)) return error;
  return new DatabaseError(error.what.replaceAll(copy, file), { cause: error.cause, fix: error.fix });
}

export function toDatabaseError(error: unknown, path: string, thing: Thing = 'database'): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (error instanceof LockedError) return new DatabaseError(error.message, { cause: error });
  const code = withAccessCode(codeOf(error), path);
  const [, what, advice] = findKnownError(code, path) ?? [];
  if (what === undefined) {
    const detail = error instanceof Error ? error.message : 'unknown error';
    const fix = /^SQLITE_(ERROR|CONSTRAINT)/.test(code) ? FIX_TRIGGER : undefined;
    return new DatabaseError(`The ${thing} ${path} failed (${code || 'no code'}: ${detail}).`, { cause: error, fix });
  }
  // In a container the user may have no name.
  const user = tryOrUndefined(() => userInfo().username);
  const fix = user === undefined ? advice : advice?.replace('this user', `the user ${user}`);
  const busy = /^SQLITE_(BUSY|LOCKED)/.test(code);
  return new DatabaseError(`The ${thing} ${path} ${what} (${code}).`, { cause: error, fix, busy, condition: what });
}

function findKnownError(code: string, path: string): (typeof KNOWN_ERRORS)[number] | undefined {
  if (/^SQLITE_CANTOPEN|EACCES/.test(code) && accessError(path, constants.R_OK) === 'EACCES') return UNREADABLE;
  const hasNoInodes = () => tryOrUndefined(() => freeSpace(dirname(path)).files) === 0;
  if (/^SQLITE_CANTOPEN/.test(code) && hasNoInodes()) return NO_INODES;
  return KNOWN_ERRORS.find(([pattern]) => pattern.test(code));
}

/** Appends the file system's error code, such as EACCES, which SQLite does not report. */
function withAccessCode(code: string, path: string): string {
  if (!/^SQLITE_(CANTOPEN|READONLY)/.test(code)) return code;
  const file = accessError(path, constants.W_OK);
  // If the file is writable or missing, the cause may be its folder, in which SQLite creates files.
  const reason = file === undefined || file === 'ENOENT' ? accessError(dirname(path), constants.W_OK) : file;
  return reason === undefined ? code : `${code}, ${reason}`;
}

/** The code of why this user lacks these rights; undefined if they are there. */
export function accessError(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}
