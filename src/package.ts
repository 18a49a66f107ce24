import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Finds package.json above this module (in `src`, or in `dist` once bundled). Throws an Error if there is none. */
export function findPackage() {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('No package.json in any folder above the program.');
    folder = parent;
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { version, folder, migrations: join(folder, 'migrations') };
}
