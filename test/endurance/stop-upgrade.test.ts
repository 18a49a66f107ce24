import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { setUpSynced } from '../support/bench.ts';
import { pad } from '../support/copy-process.ts';
import { makeLaterVersion } from '../support/later-version.ts';
import { eventually } from '../support/program.ts';
import { expectCleanStop } from '../support/stopping.ts';

/** Delays each page write by this time (µs): copying 100 MB takes a minute, as on a busy disk. */
const SLOW = ['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=pwrite64', '-e', 'signal=none'];
const DELAY = ['-e', 'inject=pwrite64:delay_enter=2000'];

// The copy before a migration is made in the worker itself, where it cannot be interrupted.
it('a worker that is stopped while it copies a large database before it upgrades it ends in time', async () => {
  const bench = await setUpSynced();
  pad(bench.database);
  const later = makeLaterVersion('ALTER TABLE `leagues` ADD COLUMN `note` TEXT;');
  const worker = bench.start(['run'], {}, { through: [...SLOW, ...DELAY, ...later] });
  const names = (): readonly string[] => readdirSync(dirname(bench.database));
  await eventually('the copy is begun', () => names().some((name) => name.includes('league-sync-part')));
  await expectCleanStop(bench, worker);
  expect(names()).toEqual(['leagues.db']);
});
