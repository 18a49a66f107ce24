import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { leagueRequests, setUpSynced } from '../support/bench.ts';
import { freezeCopy, pad } from '../support/copy-process.ts';
import { holdForWriting } from '../support/database.ts';
import { openFullFifo } from '../support/fifo.ts';
import { makeLaterVersion } from '../support/later-version.ts';
import { eventually } from '../support/program.ts';
import { setUpPublishing } from '../support/publish-setup.ts';
import { expectCleanStop, expectInOrder, LONGEST_STOP_MS } from '../support/stopping.ts';

/** Delays each page write by this time (µs): copying 60 MB takes half a minute, as on a busy disk. */
const SLOW = ['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=pwrite64', '-e', 'signal=none'];
const DELAY = ['-e', 'inject=pwrite64:delay_enter=2000'];

// Each of these waits has its limit in test/system/stop*.test.ts; here they must not add up to more than the stop may take.

it('a worker that is stopped behind another writer, a stalled copy and a log that is not read ends in time', async () => {
  const bench = await setUpPublishing();
  expect((await bench.run(['sync'])).code).toBe(0);
  pad(bench.database);
  bench.change();
  // Another scope makes the worker poll at start.
  const env = { LEAGUE_SYNC_STATUS: 'active' };
  const worker = bench.start(['run'], env, { stdout: openFullFifo() });
  await freezeCopy(worker.pid, bench.shared);
  bench.simulator.setFault('slow', true);
  worker.send('SIGHUP');
  await eventually('another request is seen', () => leagueRequests(bench.simulator).length === 3);
  const writer = holdForWriting(bench.database);
  await eventually('it is answered', () => leagueRequests(bench.simulator)[2]?.status === 200);
  const askedAt = performance.now();
  expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
  const spentMs = performance.now() - askedAt;
  console.info(`It took ${(spentMs / 1_000).toFixed(1)} s.`);
  expect(spentMs).toBeLessThan(LONGEST_STOP_MS);
  writer.end();
  expect(bench.rows('SELECT outcome FROM runs ORDER BY id')).toEqual([
    { outcome: 'changed' },
    { outcome: 'changed' },
    { outcome: 'running' },
  ]);
  expect((await bench.run(['sync'])).code).toBe(0);
  expectInOrder(bench.database);
});

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
