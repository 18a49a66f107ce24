import { expect, it } from 'vitest';
import { checkFile } from '../../src/check/database.ts';
import { fingerprint, makeFolder } from '../support/folder.ts';
import { addMigration, PRESENT_SCHEMA } from '../support/later-version.ts';
import { setUpBench } from '../support/worker-resources.ts';

it('a database of an older schema is a warning that says what the next start does, and stays as it is', async () => {
  using folder = makeFolder();
  const bench = await setUpBench({}, { folder });
  await bench.poll();
  await bench[Symbol.asyncDispose]();
  const migrations = addMigration(folder.file('migrations'), ['ALTER TABLE `leagues` ADD COLUMN `note` TEXT;']);
  const before = fingerprint(folder.path);

  const { result, state } = checkFile(bench.path, migrations);

  expect(state).toBe('outdated');
  expect(result).toMatchObject({ name: 'database', result: 'warn' });
  expect(result.message).toContain(`schema ${PRESENT_SCHEMA}, and this version has schema ${PRESENT_SCHEMA + 1}`);
  expect(result.message).toContain(`keeps a copy at ${bench.path}.schema-${PRESENT_SCHEMA}`);
  expect(result.fix).toBe('start the worker, which upgrades it');
  expect(fingerprint(folder.path)).toEqual(before);
});
