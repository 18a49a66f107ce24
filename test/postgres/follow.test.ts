import { describe, expect, it } from 'vitest';
import { execute } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import { expectMirrored } from './compare.ts';
import { createPostgres, skipWithoutPostgres } from './postgres.ts';
import { change, expectToFollow, lastSeq, mirroredSeq, setUpMirrored } from './worker.ts';

skipWithoutPostgres();

describe('a worker with a mirror', () => {
  it('fills it, follows every poll, and goes on after a restart', async () => {
    const postgres = await createPostgres();
    const bench = await setUpMirrored(postgres);
    const worker = bench.startWorker();
    await worker.waitForPoll('changed');
    await expectToFollow(bench, postgres);
    change(bench, 20, 77);
    await worker.pollNow('changed');
    await expectToFollow(bench, postgres);
    await worker.stop();
    change(bench, 3, 78);
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(await mirroredSeq(postgres)).toBe(lastSeq(bench) - 3);
    const next = bench.startWorker();
    await expectToFollow(bench, postgres);
    await next.stop();
  });

  it('has removals that another process accepted, and no rows of runs that were pruned', async () => {
    const postgres = await createPostgres();
    const bench = await setUpMirrored(postgres);
    expect((await bench.run(['sync'])).code).toBe(0);
    expect((await bench.run(['mirror'])).code).toBe(0);
    bench.simulator.setLeagues(bench.simulator.leagues().slice(0, 10));
    expect((await bench.run(['sync'])).code).toBe(3);
    await bench.run(['mirror']);
    await expectMirrored(bench.database, postgres.query);
    await bench.run(['accept-removals', '--yes']);
    await bench.run(['mirror']);
    await expectMirrored(bench.database, postgres.query);
    for (let polls = 0; polls < 4; polls += 1) await bench.run(['sync']);
    await bench.run(['mirror']);
    // As the worker deletes old runs.
    execute(bench.database, "DELETE FROM runs WHERE outcome = 'unchanged' AND id < (SELECT max(id) FROM runs)");
    expect((await bench.run(['mirror'])).code).toBe(0);
    await expectMirrored(bench.database, postgres.query);
    const worker = bench.startWorker();
    await expectToFollow(bench, postgres);
    execute(
      bench.database,
      "UPDATE held_removals SET accepted_at = NULL; DELETE FROM runs WHERE outcome = 'unchanged'",
    );
    await worker.pollNow();
    await expectToFollow(bench, postgres);
    await worker.stop();
  });

  it('goes on without a league whose id no index takes, and names it', async () => {
    const postgres = await createPostgres();
    const bench = await setUpMirrored(postgres);
    const long = makeLeague(`long-${'x'.repeat(4_000)}`);
    bench.simulator.setLeagues([long, ...bench.simulator.leagues()]);
    const worker = bench.startWorker();
    const named = /^the mirror at .+: leagues whose league_id is too long .+ are left out: long-x+…$/;
    await worker.waitForLog(({ level, msg }) => level === 40 && named.test(String(msg)));
    expect(await postgres.query('SELECT count(*)::int AS count FROM league_sync.leagues')).toEqual([{ count: 124 }]);
    expect((await bench.run(['status'])).stdout).toMatch(/^mirror .+nothing pending, last written .+ are left out/m);
    await worker.stop();
    expect(await bench.run(['mirror', 'rebuild'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('long-x'),
    });
  });
});
