import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EVERY_SECOND, type SimulatedBench, setUp } from '../support/bench.ts';
import { eventually, type RunningProgram } from '../support/program.ts';

const ROUNDS = 8;
/** How long (ms) a worker lives in each round: from before its first poll to after several. */
const LIVES = [150, 2_500, 700, 1_900, 300, 3_000, 1_200, 2_200];
/** Small, so that a page rarely has everything. */
const LIMIT = 7;

/** All workers of the test have the same address. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await once(server.close(), 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port was bound');
  return address.port;
}

type Change = { readonly seq: number };

/** Follows `/changes.json` like a program that keeps the last `next`, and asks again whenever the worker is away. */
function followOverHttp(url: string) {
  const seen: Change[] = [];
  let refusals = 0;
  let isOver = false;
  const following = (async () => {
    for (let since = 0; !isOver; ) {
      const answer = await fetch(`${url}/changes.json?since=${since}&limit=${LIMIT}`).catch(() => undefined);
      const page = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
      if (page === undefined) refusals += 1;
      else {
        const { changes, next } = Object(page);
        seen.push(...changes);
        since = next;
      }
      if (page === undefined || Object(page).more !== true) await wait(50);
    }
  })();
  return {
    seen,
    refusals: () => refusals,
    end: () => {
      isOver = true;
      return following;
    },
  };
}

/** Follows with `changes --follow`, which is killed in each round and started again after the last change it printed. */
function createRestartedFollower(bench: SimulatedBench) {
  const seen: Change[] = [];
  let program: RunningProgram | undefined;
  return {
    seen: () => [...seen, ...changesOf(program)],
    restart: async (): Promise<void> => {
      await program?.stop('SIGKILL');
      seen.push(...changesOf(program));
      program = bench.start(['changes', '--follow', '--json', '--since', String(seen.at(-1)?.seq ?? 0)]);
    },
  };
}

/** The last line of a killed program may be torn. */
function changesOf(program: RunningProgram | undefined): readonly Change[] {
  return (program?.log() ?? []).map((line) => Object(line)).filter(({ seq }) => typeof seq === 'number');
}

it('who follows the changes, by HTTP or by --follow, gets each once, whatever becomes of the worker', async () => {
  const bench = await setUp({ churnMs: 100 });
  expect((await bench.run(['sync'])).code).toBe(0);
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

  const feed = (await bench.runProcess(['changes', '--json', '--since', '0'])).stdout.trimEnd().split('\n');
  const expected = feed.map((line): Change => JSON.parse(line));
  expect(expected.length).toBeGreaterThan(124 + ROUNDS);
  expect(expected.map(({ seq }) => seq)).toEqual(expected.map((_, index) => index + 1));
  const followers = { byHttp: () => byHttp.seen, steady: () => changesOf(steady), restarted: restarted.seen };
  for (const [name, seen] of Object.entries(followers)) {
    await eventually(`${name} has every change`, () => seen().length >= expected.length);
    expect(seen(), name).toEqual(expected);
  }
  expect(byHttp.refusals()).toBeGreaterThan(0);
  await byHttp.end();
  expect((await last.stop()).code).toBe(0);
  expect((await steady.stop()).code).toBe(0);
});
