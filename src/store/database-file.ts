import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type Database from 'better-sqlite3';
import { codeOf, DatabaseError } from '../errors.ts';
import { explained, toDatabaseError } from './database-error.ts';

/** `LGSY`: tells a database of this program from any other SQLite file. */
export const APPLICATION_ID = 0x4c475359;

/** Tells a file from every other one, whatever its name; undefined where there is none. */
export function inodeOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}

/** Makes the folder of the database and says where the file really lies, so that two names share one lock. */
export function prepareFolder(path: string): string {
  return explained(path, () => {
    const absolute = followLinks(resolve(path));
    makeFolders(dirname(absolute));
    isOrdinaryFile(absolute);
    return join(realpathSync(dirname(absolute)), basename(absolute));
  });
}

/** Where a file lies, or would be made, behind all links. Throws a DatabaseError; makes nothing. */
export function locateFile(path: string): string {
  return explained(path, () => {
    const absolute = followLinks(resolve(path));
    const folder = dirname(absolute);
    return join(existsSync(folder) ? realpathSync(folder) : folder, basename(absolute));
  });
}

/** Its size in bytes; 0 where there is no file. Throws a DatabaseError. */
export function sizeOf(path: string): number {
  return explained(path, () => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
}

/** Throws a DatabaseError where anything but a file lies at the path: a pipe is waited on for ever, a link leads elsewhere. */
export function requireOrdinary(path: string): void {
  if (explained(path, () => lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true)) return;
  throw new DatabaseError(`What is at ${path} is no ordinary file, and SQLite needs one there.`, { fix: 'remove it' });
}

/** Whether there is a file. Throws a DatabaseError where there is something else, on which opening may wait for ever. */
export function isOrdinaryFile(path: string): boolean {
  const found = explained(path, () => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined || found.isFile()) return found !== undefined;
  const what = found.isDirectory() ? 'a folder' : 'no ordinary file';
  throw new DatabaseError(`What is at ${path} is ${what}.`, {
    fix: 'name a file for the database in LEAGUE_SYNC_DATABASE',
  });
}

/** Makes a folder and those above it. Node's own way never ends where a folder says that it is not there, as in /proc. */
export function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Where a link leads, also when nothing is there yet: SQLite would make the file at its end. The kernel follows 40, too. */
function followLinks(path: string, most = 40): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  if (most === 0) throw new DatabaseError(`The path ${path} is a circle of links.`, { fix: 'name the file itself' });
  return followLinks(resolve(dirname(path), readlinkSync(path)), most - 1);
}

/** What the first bytes of an SQLite database say. */
type Header = { readonly applicationId: number; readonly pages: number; readonly hasWalMark: boolean };

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
/** Where the header has them. The version is 1 with a rollback journal, 2 with a WAL. */
const READ_VERSION_AT = 19;
const PAGES_AT = 28;
const APPLICATION_ID_AT = 68;

/**
 * The header of an SQLite database; undefined for any other file. NEVER for a database that this process has open:
 * closing any descriptor of a file drops all the locks that the process has on it, SQLite's too, without SQLite ever
 * knowing. The next program that reads would take the WAL for one that nobody uses and delete it, and what the worker
 * writes from then on would be lost.
 */
export function readHeader(path: string): Header | undefined {
  return explained(path, () => {
    if (!isOrdinaryFile(path) || sizeOf(path) < HEADER_BYTES) return undefined;
    const header = Buffer.alloc(HEADER_BYTES);
    const fd = openSync(path, 'r');
    try {
      readSync(fd, header);
    } finally {
      closeSync(fd);
    }
    if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
    return {
      applicationId: header.readUInt32BE(APPLICATION_ID_AT),
      pages: header.readUInt32BE(PAGES_AT),
      hasWalMark: header[READ_VERSION_AT] === 2,
    };
  });
}

/**
 * Throws a DatabaseError where the file is plainly a database of another application. For before SQLite opens it, because
 * that alone may apply, remove or make a WAL beside it; what the header does not tell, `assertOurs` does.
 */
export function refuseForeign(path: string): void {
  const { applicationId = APPLICATION_ID, pages = 0 } = readHeader(path) ?? {};
  if (applicationId === APPLICATION_ID) return;
  if (applicationId !== 0 || pages > 1 || sizeOf(`${path}-wal`) > 0) throw foreignError(path);
}

/** Throws a DatabaseError where the database, open already, is not ours and not new. */
export function assertOurs(db: Database.Database, path: string): void {
  const id = db.pragma('application_id', { simple: true });
  if (id === APPLICATION_ID) return;
  const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get() ?? 0;
  if (id !== 0 || tables > 0) throw foreignError(path);
}

function foreignError(path: string): DatabaseError {
  return new DatabaseError(`The file ${path} is the database of another application and is left as it is.`, {
    fix: 'name another file in LEAGUE_SYNC_DATABASE',
  });
}

/**
 * The files of a database that is open, by what tells them from any others. Writes to a file that was deleted or
 * replaced succeed and are lost with it, so they are looked at before each.
 */
export type Possession = {
  /** Why they are no longer the ones that were opened, or cannot be looked at; undefined if all is well. */
  readonly fault: () => DatabaseError | undefined;
  /** Whether the database, or the WAL under its name, is the one that was opened; false if nobody can tell. */
  readonly isOurs: (suffix: '' | '-wal') => boolean;
};

/** Remembers the files as they are now: with a WAL, opened, and written to by nobody else. */
export function createPossession(path: string): Possession {
  const opened = new Map(['', '-wal', '-shm'].map((suffix) => [suffix, inodeOf(path + suffix)]));
  const isSame = (suffix: string): boolean => inodeOf(path + suffix) === opened.get(suffix);
  return {
    fault: () => {
      try {
        if (!isSame('')) return replaced(path);
        // If -shm was deleted, new connections make their own, and share neither locks nor the WAL index with this one.
        const lost = ['-wal', '-shm'].find((suffix) => !isSame(suffix));
        return lost === undefined ? undefined : without(path + lost);
      } catch (error) {
        return toDatabaseError(error, path);
      }
    },
    isOurs: (suffix) => {
      try {
        return isSame(suffix);
      } catch {
        return false;
      }
    },
  };
}

function replaced(path: string): DatabaseError {
  return new DatabaseError(
    `The database ${path} was deleted or replaced while the worker ran; nothing new is written.`,
    {
      fix: 'put that same file back (or mount its disk again), or restart the worker, which uses what is there then',
      gone: true,
      condition: 'is gone',
    },
  );
}

function without(file: string): DatabaseError {
  return new DatabaseError(`The WAL ${file} was deleted or replaced while the worker ran; nothing new is written.`, {
    fix: 'restart the worker, which saves what it holds of it',
    gone: true,
    condition: 'has lost its WAL',
  });
}
