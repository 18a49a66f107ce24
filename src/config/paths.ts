import type { Fault } from '../errors.ts';
import type { Settings } from './environment.ts';
import { SETTINGS } from './settings.ts';

export type SettingsSource = {
  readonly settings: () => Settings;
  readonly warn: (warning: Fault) => void;
};

/** The path of the database alone, for the commands that need nothing else. Warns of what is no setting. */
export function loadDatabasePath({ settings, warn }: SettingsSource): string {
  const { values, warnings } = settings();
  for (const warning of warnings) warn(warning);
  // SQLite would trim the name where everything else would not.
  return values.LEAGUE_SYNC_DATABASE?.trim() || SETTINGS.LEAGUE_SYNC_DATABASE.fallback;
}

/** Where the published copy is kept, if it is. */
export function loadPublishPath({ settings }: SettingsSource): string | undefined {
  return settings().values.LEAGUE_SYNC_PUBLISH?.trim() || undefined;
}

/** The files that SQLite, and the lock, have beside a database. */
export function besides(path: string): readonly string[] {
  return ['-wal', '-shm', '-journal', '.lock', '.lock-journal'].map((suffix) => path + suffix);
}
