import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkFile } from '../../src/check/database.ts';
import { findPackage } from '../../src/package.ts';
import { type Folder, fingerprint, makeFolder } from '../support/folder.ts';
import { PRESENT_SCHEMA } from '../support/later-version.ts';
import { startService } from '../support/service.ts';
import { openBench } from '../support/worker-resources.ts';

/** The migrations of a later version: the current ones and one more. */
function addMigration(folder: Folder): string {
  const copy = folder.file('migrations');
  cpSync(findPackage().migrations, copy, { recursive: true });
  const file = join(copy, 'meta', '_journal.json');
  const journal = JSON.parse(readFileSync(file, 'utf8'));
  journal.entries.push({ idx: journal.entries.length, tag: 'more' });
  writeFileSync(file, JSON.stringify(journal));
  writeFileSync(join(copy, 'more.sql'), 'ALTER TABLE `leagues` ADD COLUMN `note` TEXT;');
  return copy;
}

it('a database of an older schema is a warning that says what the next start does, and stays as it is', async () => {
  using folder = makeFolder();
  await using service = await startService();
  const bench = await openBench({ folder, url: service.url });
  await bench.poll();
  await bench[Symbol.asyncDispose]();
  const migrations = addMigration(folder);
  const before = fingerprint(folder.path);

  const { result, state } = checkFile(bench.path, migrations);

  expect(state).toBe('outdated');
  expect(result).toMatchObject({ name: 'database', result: 'warn' });
  expect(result.message).toContain(`schema ${PRESENT_SCHEMA}, and this version has schema ${PRESENT_SCHEMA + 1}`);
  expect(result.message).toContain(`keeps a copy at ${bench.path}.schema-${PRESENT_SCHEMA}`);
  expect(result.fix).toBe('start the worker, which upgrades it');
  expect(fingerprint(folder.path)).toEqual(before);
});
