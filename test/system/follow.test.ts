import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EVERY_SECOND, setUp } from '../support/bench.ts';
import { changesOf, createRestartedFollower, expectAllFollowed, followOverHttp } from '../support/feed-followers.ts';
import { findFreePort } from '../support/port.ts';

const ROUNDS = 8;
/** How long (ms) a worker lives in each round: from before its first poll to after several. */
const LIVES = [150, 2_500, 700, 1_900, 300, 3_000, 1_200, 2_200];
it('who follows the changes, by HTTP or by --follow, gets each once, whatever becomes of the worker', async () => {
  const bench = await setUp({ churnMs: 100 });
  expect((await bench.run(['sync'])).code).toBe(0);
  // All workers of the test have the same address.
  const listen = `127.0.0.1:${await findFreePort()}`;
  const byHttp = followOverHttp(`http://${listen}`);
  const steady = bench.start(['changes', '--follow', '--json', '--since', '0']);
  const restarted = createRestartedFollower(bench);
  const startWorker = () =>
    bench.start(['run'], {
      LEAGUE_SYNC_SCHEDULE: EVERY_SECOND,
      LEAGUE_SYNC_LISTEN: listen,
      LEAGUE_SYNC_STALE_AFTER: '1d',
    });

  for (let round = 0; round < ROUNDS; round += 1) {
    await restarted.restart();
    const worker = startWorker();
    await wait(LIVES[round % LIVES.length]);
    await worker.stop(round % 3 === 2 ? 'SIGTERM' : 'SIGKILL');
  }
  const last = startWorker();
  await last.waitForPoll('changed');
  bench.simulator.setFault('down', true);
  await last.waitForPoll('failed');

  const followers = { byHttp: () => byHttp.seen, steady: () => changesOf(steady), restarted: restarted.seen };
  expect(await expectAllFollowed(bench, followers)).toBeGreaterThan(124 + ROUNDS);
  expect(byHttp.refusals()).toBeGreaterThan(0);
  await byHttp.end();
  expect((await last.stop()).code).toBe(0);
  expect((await steady.stop()).code).toBe(0);
});
