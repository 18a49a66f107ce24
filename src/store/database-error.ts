import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, DatabaseError, LockedError, UsageError } from '../errors.ts';

type Trouble = { readonly what: string; readonly fix: string };

/** What SQLite and the file system can say, as what happened and what to do about it. The first match counts. */
const TROUBLES: readonly (readonly [code: RegExp, what: string, fix: string])[] = [
  [/^SQLITE_(BUSY|LOCKED)/, 'is in use by another program', 'wait for that program, or end it'],
  [/^SQLITE_FULL|^SQLITE_IOERR_SHMSIZE|^ENOSPC|^EDQUOT/, 'cannot grow: the disk is full', 'free some space'],
  [/EROFS/, 'lies on a read-only file system', 'mount that writable, or name a place on another one'],
  [/^E[MN]FILE/, 'cannot be opened: too many files are open', 'raise the limit (ulimit -n), or end what holds them'],
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
    'keep it aside and restore a backup, or rescue what is left with ".recover" of the sqlite3 program',
  ],
  [/^SQLITE_IOERR|^EIO/, 'could not be read or written (I/O error)', 'check the disk'],
];

/** Of those that are about permissions, the ones that are not about writing alone. */
const UNREADABLE: Trouble = {
  what: 'cannot be read',
  fix: 'give this user permission to read it (the worker: and to write it), and to enter its folder',
};

type Thing = 'database' | 'copy';

/** Does the work; what SQLite or the file system throws in it names the file and the fix. */
export function explained<T>(path: string, work: () => T, thing?: Thing): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof UsageError ? error : toDatabaseError(error, path, thing);
  }
}

/** Turns what SQLite or the file system threw into an error that names the file and the fix. */
export function toDatabaseError(error: unknown, path: string, thing: Thing = 'database'): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (error instanceof LockedError) return new DatabaseError(error.message, { cause: error });
  const code = withCause(codeOf(error), path);
  const trouble = findTrouble(code, path);
  if (trouble === undefined) {
    const detail = error instanceof Error ? error.message : 'unknown error';
    return new DatabaseError(`The ${thing} ${path} failed (${code || 'no code'}: ${detail}).`, { cause: error });
  }
  const { what, fix } = trouble;
  const busy = /^SQLITE_(BUSY|LOCKED)/.test(code);
  return new DatabaseError(`The ${thing} ${path} ${what} (${code}).`, { cause: error, fix, busy, condition: what });
}

function findTrouble(code: string, path: string): Trouble | undefined {
  if (/^SQLITE_CANTOPEN|EACCES/.test(code) && denial(path, constants.R_OK) === 'EACCES') return UNREADABLE;
  const [, what, fix] = TROUBLES.find(([pattern]) => pattern.test(code)) ?? [];
  return what === undefined || fix === undefined ? undefined : { what, fix };
}

/** SQLite says that it cannot, and the file system why, where it is about writing. */
function withCause(code: string, path: string): string {
  if (!/^SQLITE_(CANTOPEN|READONLY)/.test(code)) return code;
  const file = denial(path, constants.W_OK);
  // What is not there yet may be made, where the folder allows it.
  const reason = file === undefined || file === 'ENOENT' ? denial(dirname(path), constants.W_OK) : file;
  return reason === undefined ? code : `${code}, ${reason}`;
}

/** The code of the file system that says no; undefined where it does not. */
function denial(path: string, right: number): string | undefined {
  try {
    accessSync(path, right);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}
