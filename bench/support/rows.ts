import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { COLUMNS, type SentLeague } from './leagues.ts';

type Row = Readonly<Record<string, unknown>>;

/** One text for all leagues with all 19 fields, whatever the order; compared with `digestOfTable`. */
export function digestOf(leagues: readonly SentLeague[]): string {
  const digest = createHash('sha256');
  const sorted = leagues.toSorted((one, other) => (one.league_id < other.league_id ? -1 : 1));
  for (const league of sorted) digest.update(line(league));
  return digest.digest('hex');
}

/** The same of a database. */
export function digestOfTable(path: string): string {
  const db = new Database(path, { readonly: true });
  const digest = createHash('sha256');
  const rows = db.prepare<[], Row>(`SELECT ${COLUMNS.join(', ')} FROM leagues ORDER BY league_id`).iterate();
  for (const row of rows) digest.update(line(row));
  db.close();
  return digest.digest('hex');
}

function line(row: Row): string {
  return `${JSON.stringify(COLUMNS.map((name) => sameIn(name, row[name])))}\n`;
}

/** SQLite knows no booleans; every program writes lists as JSON, with spaces or without; a missing field is a NULL. */
function sameIn(name: string, value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  if (name === 'default_markets' && typeof value === 'string') return JSON.parse(value);
  return value ?? null;
}
