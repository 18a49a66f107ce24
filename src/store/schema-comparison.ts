import type Database from 'better-sqlite3';
import { codeOf } from '../errors.ts';
import { type Migrations, withEmptyDatabase } from './migrate.ts';

/** Compares the schema with the one that these migrations make. What other programs added is no fault. */
export function compareSchema(db: Database.Database, migrations: Migrations) {
  const [found, expected] = [readSchema(db), withEmptyDatabase(migrations, readSchema)];
  const views: string[] = [];
  const faults: string[] = [];
  for (const [name, sql] of expected) {
    if (!found.has(name)) faults.push(`${name} is missing`);
    else if (found.get(name) !== sql) faults.push(`${name} is another`);
    // A view of another program in its place could run for ever.
    else if (name.startsWith('view ')) views.push(name);
  }
  const added = [...found.keys()].filter((name) => !expected.has(name));
  const silent = views.flatMap((name) => findFault(db, name));
  return { faults, added, count: expected.size, views: views.length, silent };
}

/** The SQL of each object by type and name, such as `index leagues_removed`; null if SQLite made the object. */
function readSchema(db: Database.Database): ReadonlyMap<string, string | null> {
  const sql = "SELECT type || ' ' || name, sql FROM sqlite_schema ORDER BY type, name";
  return new Map(db.prepare<[], [string, string | null]>(sql).raw().all());
}

/** Why a view does not answer. */
function findFault(db: Database.Database, name: string): readonly string[] {
  try {
    db.prepare(`SELECT * FROM ${name.slice('view '.length)} LIMIT 1`).all();
    return [];
  } catch (error) {
    if (!(error instanceof Error) || codeOf(error) !== 'SQLITE_ERROR') throw error;
    return [`${name} fails (${error.message})`];
  }
}
