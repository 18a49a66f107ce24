import type { Contestant } from './contestant.ts';
import { makeTable } from './table.ts';

/** Its command for this purpose. The list is a file, and the table has all columns, so it need not look for them. */
export const sqliteUtils: Contestant = {
  name: 'sqlite-utils',
  prepare: makeTable,
  command: ({ database }, { list }) => ({
    args: ['sqlite-utils', 'upsert', database, 'leagues', list, '--pk', 'league_id', '--silent'],
  }),
};
