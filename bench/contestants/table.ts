import Database from 'better-sqlite3';
import { COLUMNS } from '../support/leagues.ts';
import type { Place } from './contestant.ts';

const TYPES: Readonly<Record<string, string>> = {
  league_id: 'TEXT PRIMARY KEY',
  priority: 'NUMERIC',
  default_tournaments: 'INTEGER',
  rankings: 'INTEGER',
};

/** The 19 columns and a key, and nothing that costs more. */
export function makeTable({ database }: Place): void {
  const db = new Database(database);
  db.exec(`CREATE TABLE leagues (${COLUMNS.map((name) => `${name} ${TYPES[name] ?? 'TEXT'}`).join(', ')})`);
  db.close();
}
