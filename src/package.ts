import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

let found: ReturnType<typeof readPackage> | undefined;

/** Version and folders of this package, read at the start, since an upgrade may replace the files of the program. */
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
