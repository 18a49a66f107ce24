import { expect, it } from 'vitest';
import { type SimulatedBench, setUp, setUpSynced } from '../support/bench.ts';
import { eventually } from '../support/program.ts';

/** How many requests below a path the service received. */
function asked({ simulator }: SimulatedBench, path: string): number {
  return simulator.requests.filter((request) => request.path.startsWith(path)).length;
}

const LEAGUES = '/events/v1/leagues';
const LOGIN = '/players/v1/authenticate';

it('a restart within seconds of a good poll logs in, but does not poll again', async () => {
  const bench = await setUpSynced();
  const worker = bench.start(['run']);
  await worker.waitForLog((line) => /no poll at start/.test(String(line.msg)));
  await eventually('the worker has a token', () => asked(bench, LOGIN) === 2);
  expect((await worker.stop()).code).toBe(0);
  expect(asked(bench, LEAGUES)).toBe(1);
});

it('a restart in another scope, or after a poll that failed, polls at once', async () => {
  const bench = await setUpSynced();
  const worker = bench.start(['run'], { LEAGUE_SYNC_STATUS: 'active' });
  await worker.waitForPoll('unchanged');
  expect((await worker.stop()).code).toBe(0);
  expect(bench.rows('SELECT trigger, scope FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
    { trigger: 'start', scope: 'active' },
  ]);

  const other = await setUp({ faults: ['not-json'] });
  expect((await other.run(['sync'])).code).toBe(1);
  other.simulator.setFault('not-json', false);
  const restarted = other.start(['run']);
  await restarted.waitForPoll('changed');
  expect((await restarted.stop()).code).toBe(0);
});
