import { PROGRAM, settingsFor } from '../support/program.ts';
import type { Contestant } from './contestant.ts';

/** The program as it ships, from its start to its end. */
export const leagueSync: Contestant = {
  name: 'league-sync',
  command: ({ database, url }) => ({ args: [process.execPath, PROGRAM, 'sync'], env: settingsFor(url, database) }),
};
