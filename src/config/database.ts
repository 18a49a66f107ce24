import { warnOfUnknown } from './environment.ts';
import { SETTING_NAMES } from './name.ts';

export const DEFAULT_DATABASE = 'data/leagues.db';

export type SettingsSource = {
  readonly settings: () => Readonly<Record<string, string>>;
  readonly warn: (text: string) => void;
};

/** The path of the database alone, for the commands that need nothing else. Warns of names that are no settings. */
export function loadDatabasePath({ settings, warn }: SettingsSource): string {
  const set = settings();
  for (const warning of warnOfUnknown(set, SETTING_NAMES)) warn(warning);
  // SQLite would trim the name where everything else would not.
  return set.LEAGUE_SYNC_DATABASE?.trim() || DEFAULT_DATABASE;
}

/** Where the published copy is kept, if it is. */
export function loadPublishPath({ settings }: SettingsSource): string | undefined {
  return settings().LEAGUE_SYNC_PUBLISH?.trim() || undefined;
}

/** The files that SQLite, and the lock, have beside a database. */
export function besides(path: string): readonly string[] {
  return ['-wal', '-shm', '-journal', '.lock', '.lock-journal'].map((suffix) => path + suffix);
}
