import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, DatabaseError, LockedError } from '../errors.ts';

type Fault = { readonly code: RegExp; readonly what: string; readonly fix: string; readonly busy?: true };

/** What SQLite and the file system can say, as what happened and what to do about it. The first match counts. */
const FAULTS: readonly Fault[] = [
  {
    code: /^SQLITE_(BUSY|LOCKED)/,
    what: 'is in use by another program',
    fix: 'wait for that program, or end it',
    busy: true,
  },
  {
    code: /^SQLITE_FULL|^SQLITE_IOERR_SHMSIZE|^ENOSPC|^EDQUOT/,
    what: 'cannot grow: the disk is full',
    fix: 'free some space',
  },
  {
    code: /EROFS/,
    what: 'lies on a read-only file system',
    fix: 'mount that writable, or name a place on another one',
  },
  {
    code: /^E[MN]FILE/,
    what: 'cannot be opened: too many files are open',
    fix: 'raise the limit (ulimit -n), or end what holds them',
  },
  {
    code: /^SQLITE_READONLY|EACCES|EPERM/,
    what: 'cannot be written',
    fix: 'give this user write permission on the file and its folder',
  },
  {
    code: /^SQLITE_CANTOPEN|^ENOENT|^ENOTDIR|^EISDIR|^ELOOP|^ENAMETOOLONG/,
    what: 'cannot be opened',
    fix: 'check its path, and the permissions of the file and its folder',
  },
  {
    code: /^SQLITE_NOTADB/,
    what: 'is not an SQLite database',
    fix: 'name another file, or restore this one from a backup',
  },
  {
    code: /^SQLITE_CORRUPT/,
    what: 'is damaged',
    fix: 'keep it aside and restore a backup, or rescue what is left with ".recover" of the sqlite3 program',
  },
  { code: /^SQLITE_IOERR|^EIO/, what: 'could not be read or written (I/O error)', fix: 'check the disk' },
];

/** Of those that are about permissions, the ones that are not about writing alone. */
const UNREADABLE: Omit<Fault, 'code'> = {
  what: 'cannot be read',
  fix: 'give this user permission to read it (the worker: and to write it), and to enter its folder',
};

/** Turns what SQLite or the file system threw into an error that names the file and the fix. */
export function toDatabaseError(error: unknown, path: string, what: 'database' | 'copy' = 'database'): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (error instanceof LockedError) return new DatabaseError(error.message, { cause: error });
  const code = withCause(codeOf(error), path);
  const isDenied = /^SQLITE_CANTOPEN|EACCES/.test(code) && denial(path, constants.R_OK) === 'EACCES';
  const fault = isDenied ? UNREADABLE : FAULTS.find((candidate) => candidate.code.test(code));
  if (fault === undefined) {
    const detail = error instanceof Error ? error.message : 'unknown error';
    return new DatabaseError(`The ${what} ${path} failed (${code || 'no code'}: ${detail}).`, { cause: error });
  }
  const message = `The ${what} ${path} ${fault.what} (${code}).`;
  return new DatabaseError(message, { cause: error, fix: fault.fix, busy: fault.busy ?? false, condition: fault.what });
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
