import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { codeOf } from '../../src/errors.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Queries the database with Debian's sqlite3, like any other tool; one JSON object per row. */
export function askSqlite3(path: string, sql: string): readonly Row[] {
  const args = ['-readonly', '-json', '-cmd', '.timeout 5000', path, sql];
  const output = execFileSync('sqlite3', args, { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  return output === '' ? [] : JSON.parse(output);
}

/** Calls `work` with a connection of its own, like another program. */
export function withDatabase<T>(path: string, work: (db: Database.Database) => T, options?: Database.Options): T {
  const db = new Database(path, options);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Executes statements over another connection. */
export function execute(path: string, sql: string): void {
  withDatabase(path, (db) => db.exec(sql));
}

/** Rows as another, read-only connection sees them. */
export function readRows(path: string, sql: string): readonly Row[] {
  return withDatabase(path, (db) => db.prepare<[], Row>(sql).all(), { readonly: true });
}

/** The same with INTEGER as bigint and REAL as number, so that a comparison is one of types, too. */
export function readExactRows(path: string, sql: string): readonly Row[] {
  return withDatabase(path, (db) => db.prepare<[], Row>(sql).safeIntegers(true).all(), { readonly: true });
}

/** Every row of every table, SQLite's own counters included. */
export function dumpTables(path: string): Readonly<Record<string, readonly Row[]>> {
  const tables = readRows(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  return Object.fromEntries(tables.map(({ name }) => [name, readExactRows(path, `SELECT * FROM "${name}"`)]));
}

/** A connection of another program that ends with the test. */
export function openConnection(path: string, options?: Database.Options): Database.Database {
  const db = new Database(path, options);
  onTestFinished(() => void db.close());
  return db;
}

/**
 * Another program with an open write transaction; this process counts as one for the worker. Ends with the test at the
 * latest.
 */
export function holdForWriting(
  path: string,
  how: 'IMMEDIATE' | 'EXCLUSIVE' = 'IMMEDIATE',
): { readonly end: () => void } {
  const writer = openConnection(path);
  writer.exec(`BEGIN ${how}`);
  return { end: () => void writer.close() };
}

/** Whether some program is in the middle of a write transaction. */
export function isWritten(path: string): boolean {
  try {
    withDatabase(path, (db) => db.exec('BEGIN IMMEDIATE; ROLLBACK'), { timeout: 0 });
    return false;
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_BUSY') throw error;
    return true;
  }
}

/** Whether a worker holds the lock, its last step before it opens the database. */
export function isLocked(path: string): boolean {
  const lock = `${path}.lock`;
  return existsSync(lock) && isWritten(lock);
}
