import { COLUMNS } from '../support/leagues.ts';
import type { Contestant } from './contestant.ts';
import { makeTable } from './table.ts';

/** One statement in Debian's sqlite3. The list is a file, so it neither logs in nor fetches. */
export const sqlite3: Contestant = {
  name: 'sqlite3',
  prepare: makeTable,
  command: ({ database }, { list }) => ({ args: ['sqlite3', '-batch', '-bail', database, upsert(list)] }),
};

function upsert(list: string): string {
  const values = COLUMNS.map((name) => `value ->> '$.${name}'`);
  const updates = COLUMNS.filter((name) => name !== 'league_id').map((name) => `${name} = excluded.${name}`);
  return `INSERT INTO leagues (${COLUMNS.join(', ')})
    SELECT ${values.join(', ')} FROM json_each(readfile('${list}')) WHERE true
    ON CONFLICT (league_id) DO UPDATE SET ${updates.join(', ')}`;
}
