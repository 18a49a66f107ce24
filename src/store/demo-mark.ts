import { existsSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf } from '../errors.ts';
import { withTemporaryCopy } from './connection.ts';
import { explainErrors, toDatabaseError } from './database-error.ts';
import { APPLICATION_ID, assertRegularFile, hasOurTables, readHeader, sizeOf } from './database-file.ts';

/** A `schema_migrations` row with this version marks a demo's database that no ordinary worker has opened. */
const MARK_VERSION = 0;
/** In the order of deletion. The main file has the mark and goes last, so an interrupted deletion can be finished. */
const SUFFIXES = ['-wal', '-shm', '-journal', ''] as const;

/** Must run in the transaction that creates the schema. */
export function addDemoMark(db: Database.Database, at: string): void {
  const insert = "INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES (?, 'demo', ?, ?)";
  db.prepare(insert).run(MARK_VERSION, '0'.repeat(64), at);
}

export function hasDemoMark(db: Database.Database): boolean {
  return db.prepare('SELECT 1 FROM schema_migrations WHERE version = ?').get(MARK_VERSION) !== undefined;
}

export function removeDemoMark(db: Database.Database): void {
  db.prepare('DELETE FROM schema_migrations WHERE version = ?').run(MARK_VERSION);
}

/**
 * Whether the database is missing, empty or a demo's. A WAL without its database is none of these, since it may hold the
 * only copy of some rows. Call this with the lock held, before this process opens the database. Throws a DatabaseError.
 */
export function isDemoOrMissing(path: string): boolean {
  for (const part of SUFFIXES) assertRegularFile(path + part);
  const [size, wal, journal] = [path, `${path}-wal`, `${path}-journal`].map(sizeOf);
  // Opening an empty or missing database would make SQLite delete its WAL.
  if (size === 0) return wal === 0 && (existsSync(path) || journal === 0);
  const header = readHeader(path);
  if (header?.applicationId !== APPLICATION_ID) return false;
  try {
    if (!header.isWal && wal === 0 && journal === 0) return isDemoOrEmpty(path);
    // Opening the original would make SQLite apply its WAL or roll back its hot journal.
    return withTemporaryCopy(path, ['-wal', '-journal'], isDemoOrEmpty);
  } catch (error) {
    if (!codeOf(error).startsWith('SQLITE_')) throw toDatabaseError(error, path);
    return false;
  }
}

/** Deletes a demo's database. Call this only if `isDemoOrMissing` was true under the same lock. */
export function deleteDemoDatabase(path: string): void {
  explainErrors(path, () => {
    for (const part of SUFFIXES) rmSync(path + part, { force: true });
  });
}

function isDemoOrEmpty(path: string): boolean {
  const db = new Database(path, { fileMustExist: true });
  try {
    if (db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined) return true;
    return hasOurTables(db) && hasDemoMark(db);
  } finally {
    db.close();
  }
}
