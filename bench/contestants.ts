import { join } from 'node:path';
import Database from 'better-sqlite3';
import { COLUMNS, type Lists } from './support/leagues.ts';
import type { Command } from './support/timed.ts';
import { PROGRAM, settingsFor } from './support/worker.ts';

/** Where a contestant works in one round, and for whom. */
export type Place = { readonly database: string; readonly url: string };

/** What a program does, one after the other on the same database. */
export const WORKS = ['first load', 'again, nothing changed', 'again, 1 % changed'] as const;
export type Work = (typeof WORKS)[number];

/** A program that brings a database to what a list says. */
export type Contestant = {
  readonly name: string;
  /** By default all. */
  readonly works?: readonly Work[];
  /** Makes what has to be there before the first list; not timed. */
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

/** Its command for this purpose. The list is a file, and the table has all columns, so it need not look for them. */
export const sqliteUtils: Contestant = {
  name: 'sqlite-utils',
  prepare: makeTable,
  command: ({ database }, { list }) => ({
    args: ['sqlite-utils', 'upsert', database, 'leagues', list, '--pk', 'league_id', '--silent'],
  }),
};

const SCRIPT = join(import.meta.dirname, 'programs/drizzle-script.ts');

/** What one writes first with the same libraries: a row at a time, all in one transaction. It does that to any list. */
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

/** The 19 columns and a key, and nothing that costs more. */
function makeTable({ database }: Place): void {
  const db = new Database(database);
  db.exec(`CREATE TABLE leagues (${COLUMNS.map((name) => `${name} ${TYPES[name] ?? 'TEXT'}`).join(', ')})`);
  db.close();
}
