import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** A row as JavaScript numbers: integers beyond 2^53 are not needed here. */
export type Row = Readonly<Record<string, unknown>>;

/** Queries the database with Debian's sqlite3, like any other tool; one JSON object per row. */
export function askSqlite3(path: string, sql: string): readonly Row[] {
  const output = execute(['-readonly', '-json', '-cmd', '.timeout 5000', path, sql]);
  const rows: unknown = output === '' ? [] : JSON.parse(output);
  if (!Array.isArray(rows)) throw new Error('sqlite3 printed no list of rows');
  return rows;
}

/** Why Debian's sqlite3 cannot be run; undefined if it can. */
export function missingSqlite3(): string | undefined {
  const { error } = spawnSync('sqlite3', ['-version']);
  return error === undefined ? undefined : 'there is no sqlite3 program';
}

function execute(args: readonly string[]): string {
  try {
    return execFileSync('sqlite3', args, { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new Error('These tests need the program sqlite3: apt-get install sqlite3', { cause: error });
    throw error;
  }
}

/** Queries the database over a second connection. */
export function ask(path: string, sql: string): readonly Row[] {
  const db = new Database(path, { readonly: true, timeout: 5_000 });
  try {
    return db.prepare<[], Row>(sql).all();
  } finally {
    db.close();
  }
}

/** Every row of every table, SQLite's own counters included. */
export function dump(path: string): Readonly<Record<string, readonly Row[]>> {
  const tables = ask(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  return Object.fromEntries(
    tables.map(({ name }) => [String(name), ask(path, `SELECT * FROM "${String(name)}" ORDER BY rowid`)]),
  );
}

/** Name and content of every file below the folder: what "untouched" means. */
export function fingerprint(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}
