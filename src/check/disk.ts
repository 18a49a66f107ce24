import { statSync } from 'node:fs';
import { formatAge, formatSize } from '../duration.ts';
import { DatabaseError } from '../errors.ts';
import { isThere, refuseReplacing } from '../store/copy.ts';
import { toDatabaseError } from '../store/database-error.ts';
import { sizeOf } from '../store/database-file.ts';
import { findWritableFolder, networkFileSystemOf, roomIn } from '../store/disk.ts';
import { kinshipOf } from '../store/origin.ts';
import { explain, type Finding, fail, ok, warn } from './finding.ts';

/** The log of the database may grow to this before it shrinks again; with less, polls fail. */
const LEAST_BYTES = 20_000_000;
/** With less it is time to do something. */
const SCARCE_BYTES = 200_000_000;
const LEAST_FILES = 10;
const FIX = 'name another place, or give this user write permission on the folder';

/** Whether the database can be written, and whether its disk has room. */
export function lookAtDisk(path: string): readonly Finding[] {
  try {
    const folder = findWritableFolder(path);
    return [...lookAtFileSystem(path, folder), lookAtRoom(path, folder)];
  } catch (error) {
    return [fail('disk', explain(error, FIX))];
  }
}

function lookAtFileSystem(path: string, folder: string): readonly Finding[] {
  const network = networkFileSystemOf(folder);
  if (network === undefined) return [];
  const message = `${path} lies on a network file system (${network}), where SQLite is not reliable`;
  const fix = 'put it on a local disk, and have LEAGUE_SYNC_PUBLISH make a copy for other machines';
  return [warn('disk', { message, fix })];
}

function lookAtRoom(path: string, folder: string): Finding {
  const room = readRoom(path, folder);
  const message = `${folder} can be written, ${formatSize(room.bytes)} free`;
  const fix = `free some space on the disk of ${folder}`;
  if (room.files < LEAST_FILES)
    return fail('disk', { message: `${message}, and room for ${room.files} more files only`, fix });
  if (room.bytes < LEAST_BYTES) {
    return fail('disk', { message: `${message}; polls need up to ${formatSize(LEAST_BYTES)}`, fix });
  }
  const wanted = Math.max(SCARCE_BYTES, sizeOf(path));
  if (room.bytes >= wanted) return ok('disk', message);
  return warn('disk', { message: `${message}; a copy of the database needs up to ${formatSize(wanted)}`, fix });
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
    refuseReplacing(target, path, 'published');
    const made = `made ${formatAge(Math.max(0, now - statSync(target).mtimeMs))}`;
    if (kinshipOf(target, path) === 'earlier') return ok('publish', `${target} is a copy, ${made}`);
    return ok(
      'publish',
      `${target} is a copy from before the database was restored, ${made}; the next start replaces it`,
    );
  } catch (error) {
    const { message, fix } = explain(error, FIX);
    return fail('publish', { message: `LEAGUE_SYNC_PUBLISH: ${message}`, fix });
  }
}

function inTheWay(target: string): DatabaseError {
  return new DatabaseError(`What is at ${target} can be no copy of a database that does not exist yet.`, {
    fix: 'move it away, or name another place',
  });
}
