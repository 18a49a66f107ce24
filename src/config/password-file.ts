import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readSecretFile } from './credentials.ts';
import { settingsError } from './settings.ts';

/**
 * The password for `[host, port, database, user]` in `file`, by default `~/.pgpass`, as libpq finds it. Throws a
 * SettingsError if a file that is named cannot be read, or if others may read it.
 */
export function findInPasswordFile(file: string | undefined, wanted: readonly string[]): string | undefined {
  const path = file ?? join(homedir(), '.pgpass');
  if (file === undefined && !existsSync(path)) return undefined;
  const text = readSecretFile(path, 'PGPASSFILE');
  if ((statSync(path).mode & 0o077) !== 0)
    throw settingsError(`PGPASSFILE: others may read ${path}`, `take their rights away: chmod 600 ${path}`);
  for (const line of text.split(/\r?\n/)) {
    const fields = [...line.matchAll(/((?:\\.|[^:])*)(?::|$)/g)].map(([, field = '']) => field.replace(/\\(.)/g, '$1'));
    const password = fields[wanted.length];
    if (line.startsWith('#') || !password) continue;
    // The folder of a socket is written as localhost.
    const fits = (value: string, index: number) =>
      ['*', value, value.startsWith('/') ? 'localhost' : value].includes(fields[index] ?? '');
    if (wanted.every(fits)) return password;
  }
  return undefined;
}
