import { accessSync, constants } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** Those of the programs that are not on the PATH; one with a slash in its name is looked for where it says. */
export function missingOf(programs: readonly string[]): readonly string[] {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return programs.filter((program) => !folders.some((folder) => canRun(resolve(folder, program))));
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
