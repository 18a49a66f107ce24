import type Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { type ColumnType, type ObjectDescription, splitDescription, TABLES, VIEWS } from './description.ts';
import { dataDictionary } from './schema.ts';

/** A row of `data_dictionary`; without a column it describes the table or view itself. */
type DictionaryRow = typeof dataDictionary.$inferSelect;

/** The whole dictionary, as this version of the program knows it. */
export function dictionaryRows(): readonly DictionaryRow[] {
  const tables = Object.entries(TABLES).flatMap(([name, described]) => rowsOf(name, 'table', described));
  const views = Object.entries(VIEWS).flatMap(([name, described]) => rowsOf(name, 'view', described));
  return [...tables, ...views];
}

function rowsOf(
  object: string,
  object_type: 'table' | 'view',
  { description, columns }: ObjectDescription,
): readonly DictionaryRow[] {
  const itself = { object, object_type, position: 0, column_name: null, type: null, nullable: null, description };
  const ofColumns = Object.entries(columns).map(([column_name, described], index): DictionaryRow => {
    const [type, text] = splitDescription(described);
    const [plain, nullable] = [type.replace('?', '') as ColumnType, type.endsWith('?')];
    return { object, object_type, position: index + 1, column_name, type: plain, nullable, description: text };
  });
  return [itself, ...ofColumns];
}

/** Brings the dictionary inside the database up to date; writes nothing where it is. */
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
