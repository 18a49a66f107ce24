import { join } from 'node:path';

export const PROGRAM = join(import.meta.dirname, '../../dist/league-sync.cjs');

/** A schedule with one slot, as far away as slots get. */
const NEVER = '0 0 29 2 *';

/** Settings for a service and a database. Limits are raised, for nothing is to be refused for its size or its time. */
export function settingsFor(url: string, database: string): Readonly<Record<string, string>> {
  return {
    LEAGUE_SYNC_BASE_URL: url,
    LEAGUE_SYNC_USERNAME: 'player',
    LEAGUE_SYNC_PASSWORD: 'secret-password',
    LEAGUE_SYNC_DATABASE: database,
    LEAGUE_SYNC_LISTEN: '127.0.0.1:0',
    LEAGUE_SYNC_SCHEDULE: NEVER,
    LEAGUE_SYNC_PROFILE_SCHEDULE: NEVER,
    LEAGUE_SYNC_LOG_FORMAT: 'json',
    LEAGUE_SYNC_MAX_BODY: '1GB',
    LEAGUE_SYNC_ATTEMPT_TIMEOUT: '10m',
    LEAGUE_SYNC_RUN_TIMEOUT: '10m',
  };
}
