import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFolder } from './leak.ts';

/** An empty folder, searched for secrets and removed after the test. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'league-sync-test-')));
  watchFolder(folder, () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
