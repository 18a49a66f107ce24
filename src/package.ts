import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

let found: ReturnType<typeof readPackage> | undefined;

/**
 * The version and the folders of this package. Read once, when the program starts, since an upgrade may replace or
 * remove the files of a program that runs. Throws Node's error if there is no package.json.
 */
export function findPackage() {
  found ??= readPackage();
  return found;
}

function readPackage() {
  // Above `src`, or above `dist` once bundled.
  const folder = dirname(import.meta.dirname);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { version, folder, migrations: join(folder, 'migrations') };
}
