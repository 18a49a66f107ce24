import { readFileSync, statSync } from 'node:fs';
import { codeOf, SettingsError } from '../errors.ts';
import { settingsError } from './setting-definitions.ts';

const MAX_FILE_BYTES = 2 ** 20;

/** A small UTF-8 file, without a byte order mark. Throws a SettingsError; its message begins with `prefix`. */
export function readTextFile(file: string, prefix = ''): string {
  try {
    const stats = statSync(file);
    // Reading a pipe or a device might never end.
    if (!stats.isFile()) throw settingsError(`${prefix}${file} is not a regular file`, 'use a regular file');
    if (stats.size > MAX_FILE_BYTES)
      throw settingsError(`${prefix}${file} is larger than 1MB`, 'keep only settings and secrets in it');
    const bytes = readFileSync(file);
    if (bytes.includes(0)) throw settingsError(`${prefix}${file} is in UTF-16, not in UTF-8`, 'save it as UTF-8');
    return new TextDecoder().decode(bytes);
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    const code = codeOf(error) || 'unknown error';
    // What is no path may be the secret itself.
    if (prefix !== '' && (!file.includes('/') || /:\/\/|^whsec_/.test(file)))
      throw settingsError(`${prefix}the file that it names cannot be read (${code})`, 'name a file, by its whole path');
    throw settingsError(`${prefix}${file} cannot be read (${code})`, 'check its path and permissions');
  }
}
