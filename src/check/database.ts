import { statSync } from 'node:fs';
import { formatAge, formatSize } from '../duration.ts';
import { DatabaseError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { isThere, refuseReplacing } from '../store/copy.ts';
import { toDatabaseError } from '../store/database-error.ts';
import { locateFile, requireOrdinary, sizeOf } from '../store/database-file.ts';
import { findWritableFolder, networkFileSystemOf, roomIn } from '../store/disk.ts';
import { findUnsettled, holdsDatabase, type Inspection, inspectDatabase } from '../store/inspect.ts';
import { type LocalHost, type LockStatus, readLockStatus } from '../store/lock.ts';
import { kinshipOf } from '../store/origin.ts';
import { type CheckResult, explain, fail, failed, ok, skipped, warn } from './result.ts';

/** What was found of the database, and what can be asked of it. */
export type Database = {
  readonly results: readonly CheckResult[];
  /** Where the file lies behind all links. */
  readonly place: string;
  /** `unknown` if something is there that nothing can be asked of. */
  readonly state: 'none' | 'readable' | 'unknown';
  /** Whether a worker may be at work on it. */
  readonly isInUse: boolean;
};

/** SQLite begins the WAL anew after some 4 MB, unless a reader is still in it. */
const NOTABLE_WAL_BYTES = 1_000_000;
/** As large as the worker warns of it. */
const LARGE_WAL_BYTES = 64_000_000;
/** The WAL may grow to this before it shrinks again; with less, polls fail. */
const LEAST_BYTES = 20_000_000;
/** With less it is time to do something. */
const SCARCE_BYTES = 200_000_000;
const LEAST_FILES = 10;
const FIX_FILE = 'look at the file and its disk, and restore a backup where it is lost';
const FIX_FOLDER = 'name another place, or give this user write permission on the folder';

/** The database, its lock and its disk. */
export function checkDatabase(path: string, localHost: LocalHost): Database {
  try {
    const place = locateFile(path);
    const { result, state } = checkFile(place, findPackage().migrations);
    requireOrdinary(`${place}.lock`);
    const lock = readLockStatus(place, localHost);
    const results = [result, describeLock(lock), ...checkDisk(place)];
    return { place, state, isInUse: lock.state !== 'none', results };
  } catch (error) {
    const bad = failed('database', error, 'check LEAGUE_SYNC_DATABASE, and the permissions of its folder');
    return { place: path, state: 'unknown', isInUse: false, results: [bad] };
  }
}

/** Looks into the database, without a mark being left on it. */
export function checkFile(
  path: string,
  migrations: string,
): Pick<Database, 'state'> & { readonly result: CheckResult } {
  try {
    if (!holdsDatabase(path))
      return { result: ok('database', `${path} is not there yet; the first poll makes it`), state: 'none' };
    const unsettled = findUnsettled(path);
    if (unsettled === undefined)
      return { result: describe(path, inspectDatabase(path, migrations)), state: 'readable' };
    const message = `${path} has ${unsettled}, and was not looked into, since even a reader would have to write`;
    const fix = 'start the worker, which puts that in order, and check again';
    return { result: warn('database', message, fix), state: 'unknown' };
  } catch (error) {
    const { message, fix } = explain(error, FIX_FILE);
    const isBusy = error instanceof DatabaseError && error.busy;
    return { result: (isBusy ? warn : fail)('database', message, fix), state: 'unknown' };
  }
}

function describe(path: string, { bytes, walBytes, schema, upgrade, freshness }: Inspection): CheckResult {
  const wal = walBytes < NOTABLE_WAL_BYTES ? '' : ` (${formatSize(walBytes)} of it in the write-ahead log)`;
  const size = `${path}: sound, ${formatSize(bytes)}${wal}, schema ${schema}`;
  if (upgrade !== undefined) {
    const message = `${size}, and this version has schema ${upgrade.to}; the upgrade keeps a copy at ${upgrade.copy}, which takes ${formatSize(bytes)}`;
    return warn('database', message, 'start the worker, which upgrades it');
  }
  if (walBytes >= LARGE_WAL_BYTES) {
    const fix = `find that program (fuser ${path}), and end its transaction`;
    return warn('database', `${size}: another program keeps a read transaction open`, fix);
  }
  const { live_leagues = 0, last_success_at = null, age_seconds = null } = freshness ?? {};
  const age = age_seconds === null ? '' : ` (${formatAge(age_seconds * 1_000)})`;
  const last = last_success_at === null ? 'no good poll yet' : `last good poll ${last_success_at}${age}`;
  return ok('database', `${size}, ${live_leagues} leagues listed, ${last}`);
}

/** Who holds the lock. A worker that runs is as it should be, and so is none. */
function describeLock(lock: LockStatus): CheckResult {
  if (lock.state === 'none') return ok('lock', 'not held: no worker runs');
  if (lock.holder === undefined) return ok('lock', 'just being taken, or the lock file cannot be read');
  const { pid, host, since } = lock.holder;
  const who = `process ${pid} on ${host}, since ${since}`;
  return ok('lock', lock.state === 'running' ? `a worker runs: ${who}` : `the lock file names ${who}`);
}

/** Whether the database can be written, and whether its disk has room. */
function checkDisk(path: string): readonly CheckResult[] {
  try {
    const folder = findWritableFolder(path);
    return [...checkFileSystem(path, folder), checkRoom(path, folder)];
  } catch (error) {
    return [failed('disk', toDatabaseError(error, path), FIX_FOLDER)];
  }
}

function checkFileSystem(path: string, folder: string): readonly CheckResult[] {
  const network = networkFileSystemOf(folder);
  if (network === undefined) return [];
  const message = `${path} lies on a network file system (${network}), where SQLite is not reliable`;
  return [warn('disk', message, 'put it on a local disk, and have LEAGUE_SYNC_PUBLISH make a copy for other machines')];
}

function checkRoom(path: string, folder: string): CheckResult {
  const room = roomIn(folder);
  const message = `${folder} can be written, ${formatSize(room.bytes)} free`;
  const fix = `free some space on the disk of ${folder}`;
  if (room.files < LEAST_FILES) return fail('disk', `${message}, and room for ${room.files} more files only`, fix);
  if (room.bytes < LEAST_BYTES) return fail('disk', `${message}; polls need up to ${formatSize(LEAST_BYTES)}`, fix);
  const wanted = Math.max(SCARCE_BYTES, sizeOf(path));
  if (room.bytes >= wanted) return ok('disk', message);
  return warn('disk', `${message}; a copy of the database needs up to ${formatSize(wanted)}`, fix);
}

/** Whether the published copy can be put into its place. */
export function checkPublishing(target: string, { place, state }: Database): CheckResult {
  const name = 'publish';
  if (state === 'unknown') return skipped(['the published copy, which needs the database']);
  try {
    const folder = findWritableFolder(target, 'copy');
    if (!isThere(target)) return ok(name, `${target} is not there yet, and can be made in ${folder}`);
    if (state === 'none')
      throw new DatabaseError(`What is at ${target} can be no copy of a database that does not exist yet.`, {
        fix: 'move it away, or name another place',
      });
    refuseReplacing(target, place, 'published');
    const made = `made ${formatAge(Math.max(0, Date.now() - statSync(target).mtimeMs))}`;
    if (kinshipOf(target, place) === 'earlier') return ok(name, `${target} is a copy, ${made}`);
    const message = `${target} is a copy from before the database was restored, ${made}; the next start replaces it`;
    return ok(name, message);
  } catch (error) {
    const { message, fix } = explain(error, FIX_FOLDER);
    return fail(name, `LEAGUE_SYNC_PUBLISH: ${message}`, fix);
  }
}
