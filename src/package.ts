import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the program knows of its own package: its version, and where it and its migrations lie. */
export type Package = { readonly version: string; readonly folder: string; readonly migrations: string };

/** Finds the package that this file belongs to, whether it runs from `src` or as the bundle in `dist`. */
export function findPackage(): Package {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('The program lies outside of its package: no package.json above it.');
    folder = parent;
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { version, folder, migrations: join(folder, 'migrations') };
}
