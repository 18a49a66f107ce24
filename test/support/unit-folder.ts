import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder. */
export type TestFolder = Disposable & {
  /** Writes a file, and returns its path. */
  readonly write: (name: string, content: string) => string;
  readonly path: (name: string) => string;
};

export function createTestFolder(): TestFolder {
  const folder = mkdtempSync(join(tmpdir(), 'league-sync-unit-'));
  const path = (name: string): string => join(folder, name);
  return {
    path,
    write: (name, content) => {
      writeFileSync(path(name), content);
      return path(name);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
