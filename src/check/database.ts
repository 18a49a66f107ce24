import { formatAge, formatSize } from '../duration.ts';
import { DatabaseError } from '../errors.ts';
import { findUnsettled, holdsDatabase, type Inspection, inspectDatabase } from '../store/inspect.ts';
import type { LockStatus } from '../store/lock.ts';
import { explain, type Finding, fail, ok, warn } from './finding.ts';

/** What was found of the database, and what can be asked of it. */
export type FoundDatabase = {
  readonly findings: readonly Finding[];
  /** `unknown` where something is there that nothing can be asked of. */
  readonly state: 'none' | 'readable' | 'unknown';
};

/** SQLite begins the log anew after some 4 MB, unless a reader is still in it. */
const NOTABLE_WAL_BYTES = 1_000_000;
/** As large as the worker warns of it. */
const LARGE_WAL_BYTES = 64_000_000;
const FIX = 'look at the file and its disk, and restore a backup where it is lost';

/** Looks into the database, without a mark being left on it. */
export function lookAtDatabase(path: string, migrations: string): FoundDatabase {
  try {
    if (!holdsDatabase(path)) {
      return { findings: [ok('database', `${path} is not there yet; the first poll makes it`)], state: 'none' };
    }
    const unsettled = findUnsettled(path);
    if (unsettled !== undefined) return { findings: [describeUnsettled(path, unsettled)], state: 'unknown' };
    return { findings: [describe(path, inspectDatabase(path, migrations))], state: 'readable' };
  } catch (error) {
    if (error instanceof DatabaseError && error.busy) {
      return { findings: [warn('database', explain(error, FIX))], state: 'unknown' };
    }
    return { findings: [fail('database', explain(error, FIX))], state: 'unknown' };
  }
}

function describe(path: string, { bytes, walBytes, schema, upgrade, freshness }: Inspection): Finding {
  const wal = walBytes < NOTABLE_WAL_BYTES ? '' : ` (${formatSize(walBytes)} of it in the write-ahead log)`;
  const size = `${path}: sound, ${formatSize(bytes)}${wal}, schema ${schema}`;
  if (upgrade !== undefined) {
    return warn('database', {
      message: `${size}, and this version has schema ${upgrade.to}; the upgrade keeps a copy at ${upgrade.copy}, which takes ${formatSize(bytes)}`,
      fix: 'start the worker, which upgrades it',
    });
  }
  if (walBytes >= LARGE_WAL_BYTES) {
    const message = `${size}: another program keeps a read transaction open`;
    return warn('database', { message, fix: `find that program (fuser ${path}), and end its transaction` });
  }
  const { live_leagues = 0, last_success_at = null, age_seconds = null } = freshness ?? {};
  const age = age_seconds === null ? '' : ` (${formatAge(age_seconds * 1_000)})`;
  const last = last_success_at === null ? 'no good poll yet' : `last good poll ${last_success_at}${age}`;
  return ok('database', `${size}, ${live_leagues} leagues listed, ${last}`);
}

function describeUnsettled(path: string, unsettled: string): Finding {
  return warn('database', {
    message: `${path} has ${unsettled}, and was not looked into, since even a reader would have to write`,
    fix: 'start the worker, which puts that in order, and check again',
  });
}

/** Who holds the lock. A worker that runs is as it should be, and so is none. */
export function describeLock(presence: LockStatus): Finding {
  if (presence.state === 'none') return ok('lock', 'not held: no worker runs');
  const { state, holder } = presence;
  if (holder === undefined) return ok('lock', 'just being taken, or the lock file cannot be read');
  const { pid, host, since } = holder;
  const who = `process ${pid} on ${host}, since ${since}`;
  return ok('lock', state === 'running' ? `a worker runs: ${who}` : `the lock file names ${who}`);
}
