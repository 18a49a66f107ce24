import { join } from 'node:path';
import type { Contestant } from './contestant.ts';

const SCRIPT = join(import.meta.dirname, '../programs/drizzle-script.ts');

/** What one writes first with the same libraries: a row at a time, all in one transaction. It does that to any list. */
export const drizzleScript: Contestant = {
  name: 'drizzle script',
  works: ['first load'],
  command: ({ database, url }) => ({
    args: [process.execPath, SCRIPT],
    env: { BASE_URL: url, API_USERNAME: 'player', API_PASSWORD: 'secret-password', DATABASE: database },
  }),
};
