import type { Environment } from './environment.ts';

export const DEFAULT_DATABASE = 'data/leagues.db';

/** The path of the database alone, for the commands that need nothing else and should not wait for more. */
export function loadDatabasePath(settings: Environment): string {
  // SQLite would trim the name where everything else would not.
  return settings.LEAGUE_SYNC_DATABASE?.trim() || DEFAULT_DATABASE;
}
