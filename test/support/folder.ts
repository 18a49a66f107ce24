import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFolder } from './leak.ts';

export type Folder = Disposable & {
  readonly path: string;
  /** The path of a file in it. */
  readonly file: (name: string) => string;
  /** Writes a file, and returns its path. */
  readonly write: (name: string, content: string) => string;
};

/**
 * An empty folder, searched for secrets and removed after the test, or when it is disposed of. Concurrent tests and
 * code outside of a test have to dispose of theirs, and no secret is searched for.
 */
export function makeFolder(): Folder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'league-sync-test-')));
  const file = (name: string): string => join(path, name);
  const end = watchFolder(path, () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return {
    path,
    file,
    write: (name, content) => {
      writeFileSync(file(name), content);
      return file(name);
    },
    [Symbol.dispose]: end,
  };
}

/** A folder in memory if possible: thousands of rows are written, and these tests are not about the disk. */
export function fastFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}

/** The type, permissions and content of everything below the folder; links as links: what "untouched" means. */
export function fingerprint(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(names.map((name) => [name, describe(join(folder, name))]));
}

function describe(path: string): string {
  const stat = lstatSync(path);
  const mode = stat.mode.toString(8);
  if (stat.isSymbolicLink()) return `${mode} ${readlinkSync(path)}`;
  if (!stat.isFile()) return mode;
  return `${mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
}
