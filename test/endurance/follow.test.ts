import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { changesOf, createRestartedFollower, expectAllFollowed, followOverHttp } from '../support/feed-followers.ts';
import { findFreePort } from '../support/port.ts';

const WORKERS = 20;
const POLLS = 50;

it(`through ${WORKERS * POLLS} polls with kills, who follows the changes gets each once`, {
  timeout: 600_000,
}, async () => {
  const bench = await setUp({ churnMs: 20 });
  expect((await bench.run(['sync'])).code).toBe(0);
  // All workers of the test have the same address.
  const listen = `127.0.0.1:${await findFreePort()}`;
  const byHttp = followOverHttp(`http://${listen}`);
  const steady = bench.start(['changes', '--follow', '--json', '--since', '0']);
  const restarted = createRestartedFollower(bench);
  for (let round = 0; round < WORKERS; round += 1) {
    await restarted.restart();
    const worker = bench.start(['run'], { LEAGUE_SYNC_LISTEN: listen, LEAGUE_SYNC_STALE_AFTER: '9999d' });
    // The first poll of a worker may be left out, if another one was good just before.
    await worker.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
    for (let poll = 0; poll < POLLS; poll += 1) {
      worker.send('SIGHUP');
      await worker.waitForPoll();
    }
    await worker.stop(round === WORKERS - 1 ? 'SIGTERM' : 'SIGKILL');
  }
  const worker = bench.start(['run'], { LEAGUE_SYNC_LISTEN: listen, LEAGUE_SYNC_STALE_AFTER: '9999d' });
  const followers = { byHttp: () => byHttp.seen, steady: () => changesOf(steady), restarted: restarted.seen };
  const changes = await expectAllFollowed(bench, followers);
  const [{ polls } = {}] = bench.rows("SELECT count(*) AS polls FROM runs WHERE outcome IN ('changed', 'unchanged')");
  expect(Number(polls)).toBeGreaterThanOrEqual(WORKERS * POLLS - WORKERS);
  expect(changes).toBeGreaterThan(1_000);
  await byHttp.end();
  await worker.stop();
  expect((await steady.stop()).code).toBe(0);
});
