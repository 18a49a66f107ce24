import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Tries again for a while if a process that was just killed finishes a write. */
const REMOVALS = 5;

/** A folder for lists and databases, which are large. It is removed when the process ends, also by Ctrl-C. */
export function makeScratchFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'league-sync-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: REMOVALS }));
  // Not `once`: npm forwards the signal a second time, which would end the removal halfway.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  return folder;
}

/** With `synchronous` FULL, as in the program, many polls on a disk would take hours. Disk speed is measured elsewhere. */
export function memoryFolder(): string | undefined {
  return existsSync('/dev/shm') ? '/dev/shm' : undefined;
}

/** A subfolder for one measurement, removed at the end of the scope. */
export function makeHome(folder: string, name: string): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(folder, `${name}-`));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
