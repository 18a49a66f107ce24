import type Database from 'better-sqlite3';
import { getTableColumns, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import docs from './column-docs.json' with { type: 'json' };
import { dataDictionary } from './schema.ts';

export type DictionaryRow = typeof dataDictionary.$inferSelect;

/** By name of the object, what it is (at the key `''`), and what each column is, at its name and type: `city text?`. */
type Docs = Readonly<Record<string, Readonly<Record<string, string>>>>;

const SHARED: Docs = docs.shared;

export function dictionaryRows(): readonly DictionaryRow[] {
  return [...rowsOf('table', docs.tables), ...rowsOf('view', docs.views)];
}

/** The rows of descriptions that are written like those of `column-docs.json`. */
export function rowsOf(object_type: 'table' | 'view', described: Docs): readonly DictionaryRow[] {
  return Object.entries(described).flatMap(([object, { '': description = '', ...columns }]) => {
    const own = { object, object_type, position: 0, column_name: null, type: null, nullable: null, description };
    // A key such as `@fields of a league` stands for columns that several objects have.
    const all = Object.entries(columns).flatMap(([key, text]) => Object.entries(SHARED[key] ?? { [key]: text }));
    const rows = all.map(([key, meaning], index): DictionaryRow => {
      const [, column_name = '', type, mark] = /^(\w+) (\w+)(\??)$/.exec(key) ?? [];
      const column = { column_name, type: type as DictionaryRow['type'], nullable: mark === '?', description: meaning };
      return { object, object_type, position: index + 1, ...column };
    });
    return [own, ...rows];
  });
}

/** Rewrites the table `data_dictionary` if it is out of date. */
export function describeDatabase(client: Database.Database): void {
  const wanted = JSON.stringify(dictionaryRows());
  const stored = drizzle({ client }).select().from(dataDictionary).orderBy(sql`rowid`).all();
  if (JSON.stringify(stored) === wanted) return;
  const columns = Object.keys(getTableColumns(dataDictionary));
  const values = columns.map((name) => `value ->> '${name}'`);
  const write = client.transaction(() => {
    client.exec('DELETE FROM data_dictionary');
    // In one statement: through drizzle, the rows took a tenth of the time of the first start.
    client.prepare(`INSERT INTO data_dictionary (${columns}) SELECT ${values} FROM json_each(?)`).run(wanted);
  });
  write.immediate();
}
