import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { leagueRequests, setUp, setUpSynced } from '../support/bench.ts';
import { holdForWriting, isLocked } from '../support/database.ts';
import { askStandstill, LONGEST_STANDSTILL_MS, loopWatched } from '../support/loop.ts';
import { eventually } from '../support/program.ts';
import { expectCleanStop } from '../support/stopping.ts';

const HELD_MS = 30_000;
const OUTCOMES = 'SELECT kind, outcome FROM runs ORDER BY id';

describe('while another program is in the middle of a write for half a minute', () => {
  it('a poll and a login wait for it and succeed, and the event loop is not blocked', async () => {
    const bench = await setUp({ tokenLifeMs: 15_000 });
    const worker = bench.start(['run'], loopWatched(bench));
    await worker.waitForPoll('changed');
    await eventually('the login is recorded', () => bench.rows('SELECT id FROM logins').length === 1);
    const writer = holdForWriting(bench.database);
    bench.simulator.setLeagues(bench.simulator.leagues().slice(1));
    worker.send('SIGHUP');
    await worker.waitForLog(({ msg }) => msg === 'SIGHUP: polling now');
    await askStandstill(bench, worker);
    await rest(HELD_MS);
    const standstillMs = await askStandstill(bench, worker);
    console.info(`The event loop stood still for ${standstillMs.toFixed(0)} ms at most.`);
    expect(standstillMs).toBeLessThan(LONGEST_STANDSTILL_MS);
    // The row of the run comes before the request.
    expect(leagueRequests(bench.simulator)).toHaveLength(1);
    writer.end();
    expect((await worker.waitForPoll()).outcome).toBe('changed');
    await eventually('the logins are recorded', () => bench.rows('SELECT id FROM logins').length >= 3);
    await expectCleanStop(bench, worker);
    expect(bench.rows(OUTCOMES)).toEqual([
      { kind: 'leagues', outcome: 'changed' },
      { kind: 'leagues', outcome: 'changed' },
    ]);
    expect(worker.log().filter(({ level }) => Number(level) > 40)).toEqual([]);
  });

  it.each(['IMMEDIATE', 'EXCLUSIVE'] as const)('(%s) a start waits for it, and the event loop turns', async (how) => {
    const bench = await setUpSynced();
    const writer = holdForWriting(bench.database, how);
    const worker = bench.start(['run'], loopWatched(bench));
    await eventually('it has come as far as the database', () => isLocked(bench.database));
    await askStandstill(bench, worker);
    await rest(HELD_MS);
    const standstillMs = await askStandstill(bench, worker);
    console.info(`The event loop stood still for ${standstillMs.toFixed(0)} ms at most.`);
    expect(standstillMs).toBeLessThan(LONGEST_STANDSTILL_MS);
    expect(worker.alive()).toBe(true);
    writer.end();
    await worker.waitForPoll('unchanged');
    await expectCleanStop(bench, worker);
  });
});
