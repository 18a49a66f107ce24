import { existsSync } from 'node:fs';
import type { DatabaseError } from '../errors.ts';
import { withReader } from './connection.ts';
import { toDatabaseError } from './database-error.ts';
import { isOrdinaryFile, readHeader, sizeOf } from './database-file.ts';
import { pendingUpgrade, readMigrations, refuseOther, type Upgrade } from './migrate.ts';
import { type Freshness, prepareFreshness } from './queries/overview.ts';

/** What a look at a database tells that changes nothing in it. */
export type Inspection = {
  /** With its write-ahead log. */
  readonly bytes: number;
  readonly walBytes: number;
  /** The number of its schema. */
  readonly schema: number;
  /** What the next start of the worker does to it before anything else. */
  readonly upgrade: Upgrade | undefined;
  /** Undefined where the schema is an older one. */
  readonly freshness: Freshness | undefined;
};

/** Whether there is a database, and not only the place for one. Throws a DatabaseError. */
export function holdsDatabase(path: string): boolean {
  return isOrdinaryFile(path) && sizeOf(path) > 0;
}

/**
 * What has been left beside the database by a program that came to no clean end, so that even a reader would have to
 * write; undefined where there is no such thing.
 */
export function findUnsettled(path: string): string | undefined {
  const journal = `${path}-journal`;
  if (sizeOf(journal) > 0) return `an unfinished change in ${journal}`;
  if (readHeader(path)?.hasWalMark !== true) return undefined;
  const missing = ['-wal', '-shm'].map((suffix) => path + suffix).filter((file) => !existsSync(file));
  return missing.length === 0 ? undefined : `the mark of a log, and no ${missing.join(', nor ')}`;
}

/** Reads all of it, for damage too. Throws a DatabaseError where this version of the program cannot work with it. */
export function inspectDatabase(path: string, migrations: string): Inspection {
  const known = readMigrations(migrations);
  return withReader(path, (db) => {
    refuseOther(db, known, path);
    const said = String(db.pragma('quick_check(1)', { simple: true }));
    if (said !== 'ok') throw damaged(path, said);
    const upgrade = pendingUpgrade(db, known, path);
    const walBytes = sizeOf(`${path}-wal`);
    return {
      bytes: sizeOf(path) + walBytes,
      walBytes,
      schema: upgrade?.from ?? known.length,
      upgrade,
      freshness: upgrade === undefined ? prepareFreshness(db)() : undefined,
    };
  });
}

function damaged(path: string, said: string): DatabaseError {
  return toDatabaseError(Object.assign(new Error(said), { code: 'SQLITE_CORRUPT' }), path);
}
