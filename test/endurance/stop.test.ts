import { expect, it } from 'vitest';
import { leagueRequests } from '../support/bench.ts';
import { freezeCopy, pad } from '../support/copy-process.ts';
import { holdForWriting } from '../support/database.ts';
import { openFullFifo } from '../support/fifo.ts';
import { eventually } from '../support/program.ts';
import { setUpPublishing } from '../support/publish-setup.ts';
import { expectInOrder, stopInTime } from '../support/stopping.ts';

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
  expect(await stopInTime(worker)).toMatchObject({ code: 0, stderr: '' });
  writer.end();
  expect(bench.rows('SELECT outcome FROM runs ORDER BY id')).toEqual([
    { outcome: 'changed' },
    { outcome: 'changed' },
    { outcome: 'running' },
  ]);
  expect((await bench.run(['sync'])).code).toBe(0);
  expectInOrder(bench.database);
});
