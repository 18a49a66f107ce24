import type Database from 'better-sqlite3';
import { type ColumnType, type ObjectDescription, TABLES, VIEWS } from './description.ts';

/** A row of `data_dictionary`; without a column it describes the table or view itself. */
export type DictionaryRow = {
  readonly object: string;
  readonly object_type: 'table' | 'view';
  readonly position: number;
  readonly column_name: string | null;
  readonly type: ColumnType | null;
  readonly nullable: 0 | 1 | null;
  readonly description: string;
};

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
  const ofColumns = Object.entries(columns).map(([column_name, [type, text]], index): DictionaryRow => {
    // The type is one of the seven, with or without the question mark.
    const plain = type.replace('?', '') as ColumnType;
    const nullable = type.endsWith('?') ? 1 : 0;
    return { object, object_type, position: index + 1, column_name, type: plain, nullable, description: text };
  });
  return [itself, ...ofColumns];
}

/** Brings the dictionary inside the database up to date; writes nothing where it is. */
export function describeDatabase(db: Database.Database): void {
  const wanted = dictionaryRows();
  const stored = db.prepare<[], DictionaryRow>('SELECT * FROM data_dictionary ORDER BY rowid').all();
  if (JSON.stringify(stored) === JSON.stringify(wanted)) return;
  const insert = db.prepare<[DictionaryRow]>(
    `INSERT INTO data_dictionary (object, object_type, position, column_name, type, nullable, description)
      VALUES (@object, @object_type, @position, @column_name, @type, @nullable, @description)`,
  );
  db.transaction(() => {
    db.exec('DELETE FROM data_dictionary');
    for (const row of wanted) insert.run(row);
  }).immediate();
}
