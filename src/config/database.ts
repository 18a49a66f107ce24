import type { Environment } from './environment.ts';

export const DEFAULT_DATABASE = 'data/leagues.db';

/** The path of the database alone, for the commands that need nothing else and should not wait for more. */
export function loadDatabasePath(settings: Environment): string {
  return settings.LEAGUE_SYNC_DATABASE ?? DEFAULT_DATABASE;
}
