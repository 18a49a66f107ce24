import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { tryOrUndefined } from '../try-or-undefined.ts';
import type { Settings } from './read-environment.ts';
import { readSetting, SETTINGS, settingsError, type Values } from './setting-definitions.ts';

export function databasePath(values: Settings['values']): string {
  // Trimmed, since better-sqlite3 trims file names and `node:fs` does not.
  return values.LEAGUE_SYNC_DATABASE?.trim() || SETTINGS.LEAGUE_SYNC_DATABASE.fallback;
}

/** Throws a SettingsError if the copy would replace the database, a sidecar file or a copy made before an upgrade. */
export function readPublishPath(values: Values): string | undefined {
  const publish = readSetting(values, 'LEAGUE_SYNC_PUBLISH');
  if (publish === undefined) return undefined;
  const [target, own] = [resolveFolder(publish), resolveFolder(readSetting(values, 'LEAGUE_SYNC_DATABASE'))];
  if (![own, ...sidecarFiles(own)].includes(target) && !target.startsWith(`${own}.schema-`)) return publish;
  const message = 'LEAGUE_SYNC_PUBLISH: is the database itself, or a file beside it';
  throw settingsError(message, 'name another path for the copy');
}

/** The files that SQLite and the lock create beside a database. */
export function sidecarFiles(path: string): readonly string[] {
  return ['-wal', '-shm', '-journal', '.lock', '.lock-journal'].map((suffix) => path + suffix);
}

/** Makes a path absolute and resolves the symbolic links in its folder if the folder exists. */
function resolveFolder(path: string): string {
  const absolute = resolve(path);
  return tryOrUndefined(() => join(realpathSync(dirname(absolute)), basename(absolute))) ?? absolute;
}
