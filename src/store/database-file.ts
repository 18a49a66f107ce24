import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, DatabaseError } from '../errors.ts';
import { toDatabaseError } from './database-error.ts';

/** As many as the kernel follows. */
const MOST_LINKS = 40;

/** Makes the folder of the database and says where the file really lies, so that two names share one lock. */
export function prepareFolder(path: string): string {
  try {
    const absolute = followLinks(resolve(path));
    makeFolders(dirname(absolute));
    isOrdinaryFile(absolute);
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

/** Where a file lies, or would be made, behind all links. Throws a DatabaseError; makes nothing. */
export function locateFile(path: string): string {
  try {
    const absolute = followLinks(resolve(path));
    const folder = dirname(absolute);
    return join(existsSync(folder) ? realpathSync(folder) : folder, basename(absolute));
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

/**
 * The folder that a file lies in, or the nearest one above it where that has still to be made. Throws a DatabaseError
 * where this user could not write the file or make it there.
 */
export function findWritableFolder(path: string, what: 'database' | 'copy' = 'database'): string {
  try {
    let folder = dirname(resolve(path));
    while (!existsSync(folder)) folder = dirname(folder);
    // With the dot, so that a file in the place of a folder is told from one.
    accessSync(`${folder}/.`, constants.W_OK | constants.X_OK);
    if (what === 'database' && existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
    return folder;
  } catch (error) {
    throw toDatabaseError(error, path, what);
  }
}

/** Its size in bytes; 0 where there is no file. Throws a DatabaseError. */
export function sizeOf(path: string): number {
  return lookUp(path)?.size ?? 0;
}

/** When a file was last written (ms); 0 where there is none. Throws a DatabaseError. */
export function modifiedAt(path: string): number {
  return lookUp(path)?.mtimeMs ?? 0;
}

function lookUp(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

/** Throws a DatabaseError where anything but a file lies at the path: a pipe is waited on for ever, a link leads elsewhere. */
export function requireOrdinary(path: string): void {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true) return;
  } catch (error) {
    throw toDatabaseError(error, path);
  }
  throw new DatabaseError(`What is at ${path} is no ordinary file, and SQLite needs one there.`, { fix: 'remove it' });
}

/** Whether there is a file; throws a DatabaseError where there is something else, on which opening may wait for ever. */
export function isOrdinaryFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
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

/** Where a link leads, also when nothing is there yet: SQLite would make the file at its end. */
function followLinks(path: string): string {
  let end = path;
  for (let links = 0; links < MOST_LINKS; links += 1) {
    if (lstatSync(end, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return end;
    end = resolve(dirname(end), readlinkSync(end));
  }
  throw new DatabaseError(`The path ${path} is a circle of links.`, { fix: 'name the file itself' });
}
