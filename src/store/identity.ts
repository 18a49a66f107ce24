import { statSync } from 'node:fs';

/** `LGSY`: tells a database of this program from any other SQLite file. */
export const APPLICATION_ID = 0x4c475359;

/** Tells a file from every other one, whatever its name; undefined where there is none. */
export function inodeOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
