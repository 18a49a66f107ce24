import type { Fault } from '../errors.ts';
import type { Settings } from './environment.ts';

export const DEFAULT_DATABASE = 'data/leagues.db';

export type SettingsSource = {
  readonly settings: () => Settings;
  readonly warn: (warning: Fault) => void;
};

/** The path of the database alone, for the commands that need nothing else. Warns of what is no setting. */
export function loadDatabasePath({ settings, warn }: SettingsSource): string {
  const { values, warnings } = settings();
  for (const warning of warnings) warn(warning);
  // SQLite would trim the name where everything else would not.
  return values.LEAGUE_SYNC_DATABASE?.trim() || DEFAULT_DATABASE;
}

/** Where the published copy is kept, if it is. */
export function loadPublishPath({ settings }: SettingsSource): string | undefined {
  return settings().values.LEAGUE_SYNC_PUBLISH?.trim() || undefined;
}

/** The files that SQLite, and the lock, have beside a database. */
export function besides(path: string): readonly string[] {
  return ['-wal', '-shm', '-journal', '.lock', '.lock-journal'].map((suffix) => path + suffix);
}
