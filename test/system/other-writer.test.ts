import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Bench, leagueRequests, setUp, setUpSynced } from '../support/bench.ts';
import { holdForWriting, isLocked } from '../support/database.ts';
import { type Environment, eventually, type RunningProgram } from '../support/program.ts';

/**
 * The maximum block of the event loop in tests. The program must answer a probe within 100 ms; a machine that runs four
 * tests at once takes several times as long. A loop that waits inside SQLite blocks for far longer.
 */
const LONGEST_STANDSTILL_MS = 1_000;

const PROBE = join(import.meta.dirname, 'loop-probe.cjs');

/** The environment that enables the measurement. */
function loopWatched({ folder }: Bench): Environment {
  return { NODE_OPTIONS: `--require ${PROBE}`, LOOP_PROBE: answerOf(folder) };
}

function answerOf(folder: string): string {
  return join(folder, 'loop.json');
}

/** The longest block (ms) of the event loop of the worker since the last call. */
async function askStandstill({ folder }: Bench, worker: RunningProgram): Promise<number> {
  const answer = answerOf(folder);
  rmSync(answer, { force: true });
  worker.send('SIGUSR2');
  await eventually('the worker tells how long its loop stood still', () => existsSync(answer));
  const { longestMs } = JSON.parse(readFileSync(answer, 'utf8')) as { longestMs: number };
  return longestMs;
}

const HELD_MS = 2_500;

describe('while another program is in the middle of a write', () => {
  it('a poll waits for it, and the event loop turns', async () => {
    const bench = await setUp();
    const worker = bench.start(['run'], loopWatched(bench));
    await worker.waitForPoll('changed');
    await eventually('the login is recorded', () => bench.rows('SELECT id FROM logins').length === 1);
    const writer = holdForWriting(bench.database);
    worker.send('SIGHUP');
    await worker.waitForLog(({ msg }) => msg === 'SIGHUP: polling now');
    await askStandstill(bench, worker);
    await rest(HELD_MS);
    expect(await askStandstill(bench, worker)).toBeLessThan(LONGEST_STANDSTILL_MS);
    // The row of the run comes before the request.
    expect(leagueRequests(bench.simulator)).toHaveLength(1);
    writer.end();
    expect((await worker.waitForPoll()).outcome).toBe('unchanged');
  });

  it.each(['IMMEDIATE', 'EXCLUSIVE'] as const)('(%s) a start waits for it, and the event loop turns', async (how) => {
    const bench = await setUpSynced();
    const writer = holdForWriting(bench.database, how);
    const worker = bench.start(['run'], { ...loopWatched(bench), LEAGUE_SYNC_STATUS: 'active' });
    await eventually('it has come as far as the database', () => isLocked(bench.database));
    await askStandstill(bench, worker);
    await rest(HELD_MS);
    expect(await askStandstill(bench, worker)).toBeLessThan(LONGEST_STANDSTILL_MS);
    expect(worker.log().filter(({ msg }) => !String(msg).startsWith('waiting up to a minute'))).toEqual([]);
    writer.end();
    expect((await worker.waitForPoll()).outcome).toBe('unchanged');
  });
});
