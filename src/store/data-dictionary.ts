import type Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { TABLES, VIEWS } from './column-docs.ts';
import { dataDictionary } from './schema.ts';

export type DictionaryRow = typeof dataDictionary.$inferSelect;

export function dictionaryRows(): readonly DictionaryRow[] {
  return [...rowsOf('table', TABLES), ...rowsOf('view', VIEWS)];
}

/** The rows of descriptions that are written like those of `column-docs.ts`. */
export function rowsOf(object_type: 'table' | 'view', docs: string): readonly DictionaryRow[] {
  const blocks = docs.trim().split('\n\n');
  return blocks.flatMap((block) => {
    const [head = '', ...columns] = block.split('\n');
    const [object = '', description = ''] = head.split(/: (.*)/);
    const toRow = (line: string, index: number): DictionaryRow => {
      const [, column_name = '', type, mark, meaning = ''] = /^ {2}(\w+) (\w+)(\??): (.*)$/.exec(line) ?? [];
      const column = { column_name, type: type as DictionaryRow['type'], nullable: mark === '?', description: meaning };
      return { object, object_type, position: index + 1, ...column };
    };
    const own = { object, object_type, position: 0, column_name: null, type: null, nullable: null, description };
    return [own, ...columns.map(toRow)];
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
