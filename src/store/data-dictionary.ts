import type Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
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
  const db = drizzle({ client });
  const wanted = dictionaryRows();
  const stored = db.select().from(dataDictionary).orderBy(sql`rowid`).all();
  if (JSON.stringify(stored) === JSON.stringify(wanted)) return;
  db.transaction(
    (tx) => {
      tx.delete(dataDictionary).run();
      for (const row of wanted) tx.insert(dataDictionary).values(row).run();
    },
    { behavior: 'immediate' },
  );
}
