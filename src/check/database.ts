import { existsSync, statSync } from 'node:fs';
import { DatabaseError } from '../errors.ts';
import { assertReplaceable, exists } from '../store/atomic-copy.ts';
import { missingError } from '../store/connection.ts';
import { toDatabaseError } from '../store/database-error.ts';
import { assertOneName, assertRegularFile, holdsDatabase, locateFile, sizeOf } from '../store/database-file.ts';
import { findWritableFolder, networkProblem } from '../store/disk.ts';
import { freeSpace } from '../store/free-space.ts';
import { findUnrecovered, type Inspection, inspectDatabase } from '../store/inspect.ts';
import { findNoisyField } from '../store/queries/changed-fields.ts';
import { type Attention, isNote, readSnapshot } from '../store/queries/overview.ts';
import { type LockStatus, readLockStatus } from '../store/worker-lock.ts';
import { assertSameService } from '../sync/same-service.ts';
import { plural } from '../terminal/text.ts';
import { systemClock, timeOfDay } from '../time/clock.ts';
import { formatAge, formatSize } from '../time/duration.ts';
import { type CheckResult, fail, failure, ok, skipped, toProblem, warn } from './result.ts';

export type DatabaseTarget = {
  readonly results: readonly CheckResult[];
  /** The real path; if an error ended the check, the path as configured. */
  readonly path: string;
  /** `none`: no database exists yet. `outdated`: an older schema. `unknown`: the database could not be inspected. */
  readonly state: 'none' | 'readable' | 'outdated' | 'unknown';
  /** Also true if the lock file does not tell whether a worker is running. */
  readonly isInUse: boolean;
};

const NOTABLE_WAL_BYTES = 1_000_000;
/** SQLite restarts the WAL at about 4 MB, unless an open read transaction prevents that. */
const LARGE_WAL_BYTES = 64_000_000;
/** With less free space than this, polls may fail: the WAL can grow to this size in normal use. */
const MIN_FREE_BYTES = 20_000_000;
const LOW_FREE_BYTES = 200_000_000;
const MIN_FREE_FILES = 10;
const SEE_STATUS = 'see league-sync status';
const FIX_FILE = 'check the file and its disk, and restore a backup if it is lost';
const FIX_FOLDER = 'name another place, or give this user write permission on the folder';

export function checkDatabase(path: string): DatabaseTarget {
  try {
    const file = locateFile(path);
    const { result, attention, state } = checkFile(file);
    assertRegularFile(`${file}.lock`);
    const lock = readLockStatus(file);
    const results = [result, ...describeAttention(attention), describeLock(lock), ...checkDisk(file)];
    return { path: file, state, isInUse: lock.state !== 'none', results };
  } catch (error) {
    const failed = failure('database', error, 'check LEAGUE_SYNC_DATABASE, and the permissions of its folder');
    return { path, state: 'unknown', isInUse: false, results: [failed] };
  }
}

/** Their causes that last are among the results that follow. */
function describeAttention(rows: readonly Attention[]): readonly CheckResult[] {
  const findings = rows.filter((row) => !isNote(row)).length;
  if (findings > 0) return [warn('attention', plural(findings, 'finding'), SEE_STATUS)];
  return rows.length === 0 ? [] : [ok('attention', `${plural(rows.length, 'note')}; ${SEE_STATUS}`)];
}

/** Which service a readable database belongs to. */
export function checkOwner(path: string, baseUrl: string): CheckResult {
  try {
    const owner = readSnapshot(path, ({ identity }) => identity.baseUrl());
    assertSameService(path, owner, baseUrl);
    return ok('owner', owner === null ? 'the database belongs to no service yet' : `the database belongs to ${owner}`);
  } catch (error) {
    return failure('owner', error, FIX_FILE);
  }
}

/** A warning if the service changes one field of most leagues at each poll, which fills the feed and all that follows it. */
export function checkNoise(path: string, quietFields: readonly string[]): readonly CheckResult[] {
  try {
    const { field, changes, of } = findNoisyField(path) ?? {};
    if (field === undefined || field === 'status' || quietFields.includes(field)) return [];
    const message = `${changes} of the last ${of} changes differ in ${field} alone; each is stored, and goes to all that follow the feed`;
    const fix = `if no reader needs them, set LEAGUE_SYNC_QUIET_FIELDS=${[...quietFields, field].join()}`;
    return [warn('changes', message, fix)];
  } catch (error) {
    return [failure('changes', error, FIX_FILE)];
  }
}

/** Inspects the database without changing it or creating files. */
export function checkFile(path: string, migrations?: string) {
  try {
    assertOneName(path);
    if (!holdsDatabase(path)) {
      if (existsSync(`${path}.lock`)) throw missingError(path);
      const result = ok('database', `${path} does not exist yet; the first poll creates it`);
      return { result, attention: [], state: 'none' } as const;
    }
    const unrecovered = findUnrecovered(path);
    if (unrecovered === undefined) {
      const inspection = inspectDatabase(path, migrations);
      const { attention, isCurrent } = inspection;
      const result = describe(path, inspection);
      return { result, attention, state: isCurrent ? 'readable' : 'outdated' } as const;
    }
    const message = `${path} has ${unrecovered} and was not inspected, because even a reader would have to write`;
    const fix = 'start the worker, which recovers it, and check again';
    return { result: warn('database', message, fix), attention: [], state: 'unknown' } as const;
  } catch (error) {
    const { message, fix } = toProblem(error, FIX_FILE);
    const isBusy = error instanceof DatabaseError && error.busy;
    return { result: (isBusy ? warn : fail)('database', message, fix), attention: [], state: 'unknown' } as const;
  }
}

function describe(path: string, inspection: Inspection): CheckResult {
  const { bytes, walBytes, schema, foreign, upgrade, freshness } = inspection;
  const { fault, triggers } = foreign;
  if (fault !== undefined) return (fault.endsPolls ? fail : warn)('database', fault.message, fault.fix);
  const wal = walBytes < NOTABLE_WAL_BYTES ? '' : ` (${formatSize(walBytes)} of it in the write-ahead log)`;
  const size = `${path}: passes SQLite's quick_check, ${formatSize(bytes)}${wal}, schema ${schema}`;
  if (upgrade !== undefined) {
    const message = `${size}, and this version has schema ${upgrade.to}; the upgrade keeps a copy at ${upgrade.copy}, which takes ${formatSize(bytes)}`;
    return warn('database', message, 'start the worker, which upgrades it');
  }
  if (walBytes >= LARGE_WAL_BYTES) {
    const fix = `find that program (fuser ${path}) and end its transaction`;
    return warn('database', `${size}: another program keeps a read transaction open`, fix);
  }
  const { live_leagues = 0, last_success_at = null, age_seconds = null } = freshness ?? {};
  const last =
    last_success_at === null
      ? 'no good poll yet'
      : `last good poll ${formatAge((age_seconds ?? 0) * 1_000)} (${timeOfDay(Date.parse(last_success_at), systemClock.now())})`;
  const added = triggers.length === 0 ? '' : `; another program added the trigger ${triggers.join(', ')}`;
  return ok('database', `${size}, ${live_leagues} live leagues, ${last}${added}`);
}

export const NO_WORKER = ok('lock', 'not held: no worker runs');

function describeLock(lock: LockStatus): CheckResult {
  if (lock.state === 'none') return NO_WORKER;
  if (lock.holder === undefined)
    return ok('lock', 'being taken by a worker right now, or the lock file cannot be read');
  const { pid, host, since } = lock.holder;
  const [at, now] = [Date.parse(since), systemClock.now()];
  const who = `process ${pid} on ${host}, started ${formatAge(now - at)} (${timeOfDay(at, now)})`;
  return ok('lock', lock.state === 'running' ? `a worker runs: ${who}` : `the lock file names ${who}`);
}

function checkDisk(path: string): readonly CheckResult[] {
  try {
    const folder = findWritableFolder(path);
    const space = checkFreeSpace(path, folder);
    const problem = networkProblem(path, folder);
    return problem === undefined ? [space] : [warn('disk', problem.message, problem.fix), space];
  } catch (error) {
    return [failure('disk', toDatabaseError(error, path), FIX_FOLDER)];
  }
}

function checkFreeSpace(path: string, folder: string): CheckResult {
  const { bytes, files } = freeSpace(folder);
  const message = `${folder} is writable, ${formatSize(bytes)} free`;
  const fix = `free some space on the disk of ${folder}`;
  if (files < MIN_FREE_FILES) return fail('disk', `${message}, and room for only ${files} more files`, fix);
  if (bytes < MIN_FREE_BYTES) return fail('disk', `${message}; polls need up to ${formatSize(MIN_FREE_BYTES)}`, fix);
  const wanted = Math.max(LOW_FREE_BYTES, sizeOf(path));
  if (bytes >= wanted) return ok('disk', message);
  return warn('disk', `${message}; a copy of the database needs up to ${formatSize(wanted)}`, fix);
}

export function checkPublishing(target: string, { path, state }: DatabaseTarget): CheckResult {
  if (state === 'unknown') return skipped('the published copy, because the database could not be checked');
  try {
    const folder = findWritableFolder(target, 'copy');
    if (!exists(target)) return ok('publish', `${target} does not exist yet and can be created in ${folder}`);
    if (state === 'none')
      throw new DatabaseError(`The file at ${target} cannot be a copy of a database that does not exist yet.`, {
        fix: 'move it away, or choose another path',
      });
    assertReplaceable(target, path, 'published');
    const made = `made ${formatAge(Math.max(0, Date.now() - statSync(target).mtimeMs))}`;
    return ok('publish', `${target} is a copy, ${made}`);
  } catch (error) {
    const { message, fix } = toProblem(error, FIX_FOLDER);
    return fail('publish', `LEAGUE_SYNC_PUBLISH: ${message}`, fix);
  }
}
