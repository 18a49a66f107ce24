import type Database from 'better-sqlite3';
import type { Migrations } from './migrate.ts';

type Row = {
  readonly type: 'trigger' | 'view';
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string;
};

// Triggers come first: they end polls, while a view may only end an upgrade. A view has its own name as `tbl_name`.
const LIST = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY type";
const COLUMNS = `SELECT group_concat(format('"%w" = NULL', name)) FROM pragma_table_info(?)`;

/** What other programs made of the schema: their triggers, and the first fault of a trigger or view. Runs none. */
export function inspectForeignObjects(db: Database.Database, migrations: Migrations, path: string) {
  const ours = migrations.flatMap(({ statements }) => statements).join('\n');
  const rows = db
    .prepare<[], Row>(LIST)
    .all()
    .filter(({ sql }) => !ours.includes(sql));
  const triggers = rows.filter(({ type }) => type === 'trigger').map(({ name, tbl_name }) => `${name} on ${tbl_name}`);
  return { triggers, fault: findReplaced(rows, ours, path) ?? findBroken(db, rows, path) };
}

/** A view without end, say, in the place of a table or view of ours would keep the worker busy for ever. */
function findReplaced(rows: readonly Row[], ours: string, path: string) {
  const made = new Set(ours.match(/(?<=CREATE (?:TABLE|VIEW) `)\w+/g));
  const view = rows.find(({ type, name }) => type === 'view' && made.has(name));
  if (view === undefined) return undefined;
  const message = `${view.name} in ${path} is not that of league-sync, but a view that another program put there`;
  return { endsPolls: true, message, fix: 'set the file aside and restore a backup' } as const;
}

function findBroken(db: Database.Database, rows: readonly Row[], path: string) {
  for (const [first, ...others] of Map.groupBy(rows, ({ type, tbl_name }) => `${type} on ${tbl_name}`).values()) {
    if (first === undefined) continue;
    const { type, tbl_name } = first;
    try {
      for (const sql of statementsWith(db, first)) db.prepare(sql);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown error';
      const names = [first, ...others].map(({ name }) => name).join(' or ');
      const what = type === 'trigger' ? `trigger ${names} on ${tbl_name}` : `view ${names}`;
      const message = `the ${what} in ${path}, which another program added, does not work (${why})`;
      return { endsPolls: type === 'trigger', message, fix: `repair or drop that ${type}` } as const;
    }
  }
  return undefined;
}

/** Statements whose compilation includes the object. */
function statementsWith(db: Database.Database, { type, tbl_name }: Row): readonly string[] {
  const table = `"${tbl_name.replaceAll('"', '""')}"`;
  if (type === 'view') return [`SELECT * FROM ${table}`];
  const columns = db.prepare<[string], string>(COLUMNS).pluck().get(tbl_name);
  return [`INSERT INTO ${table} DEFAULT VALUES`, `UPDATE ${table} SET ${columns}`, `DELETE FROM ${table}`];
}
