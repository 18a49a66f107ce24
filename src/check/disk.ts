import { formatDuration, formatSize } from '../duration.ts';
import { DatabaseError } from '../errors.ts';
import { isThere, refuseReplacing } from '../store/copy.ts';
import { toDatabaseError } from '../store/fault.ts';
import { networkFileSystemOf, roomIn } from '../store/filesystem.ts';
import { findWritableFolder, modifiedAt, sizeOf } from '../store/folder.ts';
import { explain, type Finding, fail, ok, warn } from './finding.ts';

/** The log of the database may grow to this before it shrinks again; with less, polls fail. */
const LEAST_BYTES = 20_000_000;
/** With less it is time to do something. */
const SCARCE_BYTES = 200_000_000;
const LEAST_FILES = 10;
const MEND = 'name another place, or give this user the folder';

/** Whether the database can be written, and whether its disk has room. */
export function lookAtDisk(path: string): readonly Finding[] {
  try {
    const folder = findWritableFolder(path);
    return [...lookAtFileSystem(path, folder), lookAtRoom(path, folder)];
  } catch (error) {
    return [fail('disk', explain(error, MEND))];
  }
}

function lookAtFileSystem(path: string, folder: string): readonly Finding[] {
  const network = networkFileSystemOf(folder);
  if (network === undefined) return [];
  const message = `${path} lies on a network file system (${network}), where SQLite cannot be relied upon`;
  const mend = 'put it on a local disk, and have LEAGUE_SYNC_PUBLISH make a copy for other machines';
  return [warn('disk', { message, mend })];
}

function lookAtRoom(path: string, folder: string): Finding {
  const room = readRoom(path, folder);
  const message = `${folder} can be written, ${formatSize(room.bytes)} free`;
  const mend = `free some space on the disk of ${folder}`;
  if (room.files < LEAST_FILES)
    return fail('disk', { message: `${message}, but for ${room.files} more files only`, mend });
  if (room.bytes < LEAST_BYTES) {
    return fail('disk', { message: `${message}; polls need up to ${formatSize(LEAST_BYTES)}`, mend });
  }
  const wanted = Math.max(SCARCE_BYTES, sizeOf(path));
  if (room.bytes >= wanted) return ok('disk', message);
  return warn('disk', { message: `${message}; ${formatSize(wanted)} leave room for a copy of the database`, mend });
}

function readRoom(path: string, folder: string) {
  try {
    return roomIn(folder);
  } catch (error) {
    throw toDatabaseError(error, path);
  }
}

/** Whether the published copy can be put into its place. `path` is the database, undefined where there is none yet. */
export function lookAtPublishing(
  target: string,
  { path, now }: { readonly path: string | undefined; readonly now: number },
): Finding {
  try {
    const folder = findWritableFolder(target, 'copy');
    if (!isThere(target)) return ok('publish', `${target} is not there yet, and can be made in ${folder}`);
    if (path === undefined) throw inTheWay(target);
    refuseReplacing(target, path);
    return ok('publish', `${target} is a copy of ${formatDuration(Math.max(0, now - modifiedAt(target)))} ago`);
  } catch (error) {
    const { message, mend } = explain(error, MEND);
    return fail('publish', { message: `LEAGUE_SYNC_PUBLISH: ${message}`, mend });
  }
}

function inTheWay(target: string): DatabaseError {
  return new DatabaseError(
    `What is at ${target} can be no copy of a database that does not exist yet; move it away, or name another place.`,
  );
}
