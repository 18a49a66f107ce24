import { join } from 'node:path';
import Database from 'better-sqlite3';
import { COLUMNS, type Lists } from './support/leagues.ts';
import type { Command } from './support/timed.ts';
import { PROGRAM, settingsFor } from './support/worker.ts';

/** The database and the service of a contestant in one round. */
export type Place = { readonly database: string; readonly url: string };

/** The tasks of a program, in this order on the same database. */
export const WORKS = ['first load', 'again, nothing changed', 'again, 1 % changed'] as const;
export type Work = (typeof WORKS)[number];

/** A program that updates a database to match a list. */
export type Contestant = {
  readonly name: string;
  /** By default all. */
  readonly works?: readonly Work[];
  /** Creates what the first task needs; not timed. */
  readonly prepare?: (place: Place) => void;
  readonly command: (place: Place, lists: Lists) => Command;
};

/** The program as it ships, from its start to its end. */
export const leagueSync: Contestant = {
  name: 'league-sync',
  command: ({ database, url }) => ({ args: [process.execPath, PROGRAM, 'sync'], env: settingsFor(url, database) }),
};

/** One statement in Debian's sqlite3. The list is a file, so it neither logs in nor fetches. */
export const sqlite3: Contestant = {
  name: 'sqlite3',
  prepare: makeTable,
  command: ({ database }, { list }) => ({ args: ['sqlite3', '-batch', '-bail', database, upsert(list)] }),
};

/**
 * The command of sqlite-utils for this task. It reads the list from a file, and all columns exist, so it need not
 * detect them.
 */
export const sqliteUtils: Contestant = {
  name: 'sqlite-utils',
  prepare: makeTable,
  command: ({ database }, { list }) => ({
    args: ['sqlite-utils', 'upsert', database, 'leagues', list, '--pk', 'league_id', '--silent'],
  }),
};

const SCRIPT = join(import.meta.dirname, 'programs/drizzle-script.ts');

/** A first script with the same libraries: upserts row by row in one transaction. */
export const drizzleScript: Contestant = {
  name: 'drizzle script',
  works: ['first load'],
  command: ({ database, url }) => ({
    args: [process.execPath, SCRIPT],
    env: { BASE_URL: url, API_USERNAME: 'player', API_PASSWORD: 'secret-password', DATABASE: database },
  }),
};

function upsert(list: string): string {
  const values = COLUMNS.map((name) => `value ->> '$.${name}'`);
  const updates = COLUMNS.filter((name) => name !== 'league_id').map((name) => `${name} = excluded.${name}`);
  return `INSERT INTO leagues (${COLUMNS.join(', ')})
    SELECT ${values.join(', ')} FROM json_each(readfile('${list}')) WHERE true
    ON CONFLICT (league_id) DO UPDATE SET ${updates.join(', ')}`;
}

const TYPES: Readonly<Record<string, string>> = {
  league_id: 'TEXT PRIMARY KEY',
  priority: 'NUMERIC',
  default_tournaments: 'INTEGER',
  rankings: 'INTEGER',
};

/** A table with the 19 columns and a primary key, and no costly extras. */
function makeTable({ database }: Place): void {
  const db = new Database(database);
  db.exec(`CREATE TABLE leagues (${COLUMNS.map((name) => `${name} ${TYPES[name] ?? 'TEXT'}`).join(', ')})`);
  db.close();
}
