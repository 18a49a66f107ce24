import Database from 'better-sqlite3';
import { codeOf } from '../errors.ts';
import { type Migrations, migrate } from './migrate.ts';

type Row = { readonly type: string; readonly name: string; readonly sql: string | null };

/** Compares the schema with the one that these migrations make. What other programs added is no fault. */
export function compareSchema(db: Database.Database, migrations: Migrations) {
  const found = readSchema(db);
  const expected = makeSchema(migrations);
  const names = [...expected.keys()];
  return {
    missing: names.filter((name) => !found.has(name)),
    different: names.filter((name) => found.has(name) && found.get(name)?.sql !== expected.get(name)?.sql),
    added: [...found.keys()].filter((name) => !expected.has(name)),
    count: expected.size,
    /** Those of the file that are ours, to the letter. */
    views: [...expected.values()]
      .filter(({ type, name, sql }) => type === 'view' && found.get(`view ${name}`)?.sql === sql)
      .map(({ name }) => name),
  };
}

/** The views that fail, with the reason. A view of another program could run for ever, so only ours may be given. */
export function findSilentViews(db: Database.Database, views: readonly string[]): readonly string[] {
  return views.flatMap((name) => {
    try {
      db.prepare(`SELECT * FROM ${name} LIMIT 1`).all();
      return [];
    } catch (error) {
      if (!(error instanceof Error) || codeOf(error) !== 'SQLITE_ERROR') throw error;
      return [`the view ${name} fails (${error.message})`];
    }
  });
}

function makeSchema(migrations: Migrations): ReadonlyMap<string, Row> {
  const db = new Database(':memory:');
  try {
    migrate(db, migrations, '2026-01-01T00:00:00.000Z');
    return readSchema(db);
  } finally {
    db.close();
  }
}

/** By type and name, such as `index leagues_removed`. */
function readSchema(db: Database.Database): ReadonlyMap<string, Row> {
  const rows = db.prepare<[], Row>('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all();
  return new Map(rows.map((row) => [`${row.type} ${row.name}`, row]));
}
