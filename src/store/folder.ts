import { existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, DatabaseError } from '../errors.ts';
import { toDatabaseError } from './fault.ts';

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

/** Whether there is a file; throws a DatabaseError where there is something else, on which opening may wait for ever. */
export function isOrdinaryFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return found !== undefined;
  const what = found.isDirectory() ? 'a folder' : 'no ordinary file';
  throw new DatabaseError(`What is at ${path} is ${what}; name a file for the database in LEAGUE_SYNC_DATABASE.`);
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
  throw new DatabaseError(`The path ${path} is a circle of links; name the file itself.`);
}
