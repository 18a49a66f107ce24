import { resolve } from 'node:path';
import { readRows } from './database.ts';

/** A database that version 0.1.0 made, with rows in every table. */
export const DATABASE_OF_0_1_0 = resolve(import.meta.dirname, '../fixtures/schema-1.db');

/** The list that the service sent last, by the feed of the database. */
export function lastListOf(path: string): readonly object[] {
  const newest = 'SELECT max(seq) FROM league_changes GROUP BY league_id';
  const rows = readRows(path, `SELECT after FROM league_changes WHERE seq IN (${newest}) AND after IS NOT NULL`);
  return rows.map(({ after }) => {
    const { extra, ...fields } = JSON.parse(String(after));
    return { ...fields, ...extra };
  });
}
