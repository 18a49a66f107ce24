import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { leagueRequests, setUp, setUpSynced } from '../support/bench.ts';
import { holdForWriting, isLocked } from '../support/database.ts';
import { askStandstill, LONGEST_STANDSTILL_MS, loopWatched } from '../support/loop.ts';
import { eventually } from '../support/program.ts';

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
