import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { withReader } from './connection.ts';
import { toDatabaseError } from './database-error.ts';
import { readHeader, sizeOf } from './database-file.ts';
import { inspectForeignObjects } from './foreign-objects.ts';
import { assertSchemaKnown, pendingUpgrade, readMigrations, schemaVersion } from './migrate.ts';
import { prepareStatus } from './queries/overview.ts';

export type Inspection = ReturnType<typeof inspectDatabase>;

/** Completes "<path> has …" if even a reader would have to write to recover the database; otherwise undefined. */
export function findUnrecovered(path: string): string | undefined {
  const journal = `${path}-journal`;
  if (sizeOf(journal) > 0) return `an unfinished change in ${journal}`;
  if (readHeader(path)?.isWal !== true) return undefined;
  const missing = ['-wal', '-shm'].map((suffix) => path + suffix).filter((file) => !existsSync(file));
  return missing.length === 0 ? undefined : `the mark of a log, and no ${missing.join(', nor ')}`;
}

/** Many years of changes. The copy takes twice as much memory. */
const MAX_COPIED_BYTES = 256 * 2 ** 20;

/**
 * `ok`, or what SQLite finds in a file of that size. A connection that only reads knows no CHECK constraints, so a copy in
 * memory is checked as well if the file is small enough.
 */
export function checkIntegrity(db: Database.Database, bytes: number): string {
  const check = (one: Database.Database) =>
    one.prepare<[], string>('PRAGMA integrity_check(3)').pluck().all().join('; ');
  const found = check(db);
  if (found !== 'ok' || bytes > MAX_COPIED_BYTES) return found;
  const image = db.serialize();
  // A database in memory has no WAL mode, which these two bytes of the header name.
  image.fill(1, 18, 20);
  const copy = new Database(image);
  try {
    return check(copy);
  } finally {
    copy.close();
  }
}

/** Reads the whole database. Throws a DatabaseError if it is damaged or this version of the program cannot use it. */
export function inspectDatabase(path: string, migrations?: string) {
  const known = readMigrations(migrations);
  return withReader(path, (db) => {
    assertSchemaKnown(db, known, path);
    const result = String(db.pragma('quick_check(1)', { simple: true }));
    if (result !== 'ok') throw toDatabaseError(Object.assign(new Error(result), { code: 'SQLITE_CORRUPT' }), path);
    const upgrade = pendingUpgrade(db, known, path);
    const isCurrent = schemaVersion(db) === known.length;
    const foreign = inspectForeignObjects(db, known, path);
    const status = isCurrent && foreign.fault?.endsPolls !== true ? prepareStatus(db) : undefined;
    const walBytes = sizeOf(`${path}-wal`);
    return {
      bytes: sizeOf(path) + walBytes,
      walBytes,
      schema: schemaVersion(db),
      isCurrent,
      foreign,
      /** The upgrade that the next start of the worker makes; undefined if there is none. */
      upgrade,
      freshness: status?.freshness(),
      attention: status?.attention() ?? [],
    };
  });
}
