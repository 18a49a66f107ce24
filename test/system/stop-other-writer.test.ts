import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { leagueRequests, setUp, setUpSynced } from '../support/bench.ts';
import { holdForWriting, isLocked } from '../support/database.ts';
import { eventually } from '../support/program.ts';
import { expectInOrder, expectStop, LONGEST_STOP_MS, STOPPING, wordsOf } from '../support/stopping.ts';

/** Longer than the busy timeout of SQLite, shorter than the grace period of a stopping worker. */
const HELD_MS = 500;
const OUTCOMES = 'SELECT outcome FROM runs ORDER BY id';

/** A worker that has polled once and recorded all of it. */
async function startIdle() {
  const bench = await setUp();
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  await eventually('the login is recorded', () => bench.rows('SELECT id FROM logins').length === 1);
  return { bench, worker };
}

/** A worker with the response to its second poll, blocked by a writer since before that. */
async function startBehindWriter() {
  const { bench, worker } = await startIdle();
  bench.simulator.setFault('slow', true);
  worker.send('SIGHUP');
  await eventually('the second request is seen', () => leagueRequests(bench.simulator).length === 2);
  const writer = holdForWriting(bench.database);
  await eventually('it is answered', () => leagueRequests(bench.simulator)[1]?.status === 200);
  return { bench, worker, writer };
}

describe('a worker that is stopped while another program is in the middle of a write', () => {
  it('before its poll could begin has no run', async () => {
    const { bench, worker } = await startIdle();
    const writer = holdForWriting(bench.database);
    worker.send('SIGHUP');
    await worker.waitForLog(({ msg }) => msg === 'SIGHUP: polling now');
    const words = wordsOf(await expectStop(worker));
    expect(words).toEqual([
      STOPPING,
      expect.stringMatching(/^leagues: interrupted \(/),
      expect.stringMatching(/^stopped\b/),
    ]);
    writer.end();
    expect(bench.rows(OUTCOMES)).toEqual([{ outcome: 'changed' }]);
  });

  it('that ends soon records how the poll ended', async () => {
    const { bench, worker, writer } = await startBehindWriter();
    const stopped = expectStop(worker);
    await worker.waitForLog(({ msg }) => msg === STOPPING);
    await rest(HELD_MS);
    writer.end();
    expect(wordsOf(await stopped)).toEqual([
      STOPPING,
      expect.stringMatching(/^leagues: interrupted \(/),
      expect.stringMatching(/^stopped\b/),
    ]);
    expectInOrder(bench.database);
    expect(bench.rows(OUTCOMES)).toEqual([{ outcome: 'changed' }, { outcome: 'interrupted' }]);
  });

  it('that does not end warns that the end of the poll is not recorded, and the next start records it', async () => {
    const { bench, worker, writer } = await startBehindWriter();
    const lines = await expectStop(worker);
    const warnings = lines.filter(({ level, msg }) => Number(level) >= 40 && !String(msg).startsWith('waiting'));
    expect(warnings).toEqual([
      expect.objectContaining({ outcome: 'interrupted', msg: expect.stringMatching(/in use by another program/) }),
      expect.objectContaining({
        msg: expect.stringMatching(/^stopped; .* but the end of the last run could not be written/),
      }),
    ]);
    writer.end();
    expect(bench.rows(OUTCOMES)).toEqual([{ outcome: 'changed' }, { outcome: 'running' }]);
    const next = bench.start(['run']);
    await next.waitForLog(({ msg }) => msg === 'marked 1 unfinished run of an earlier worker as interrupted');
    await expectStop(next);
    expectInOrder(bench.database);
  });

  it('at its start ends with 0, as after any stop', async () => {
    const bench = await setUpSynced();
    holdForWriting(bench.database);
    const worker = bench.start(['run']);
    await eventually('it has come as far as the database', () => isLocked(bench.database));
    expect((await worker.stop()).code).toBe(0);
  });

  it('at its start ends in time and touches nothing', async () => {
    const bench = await setUpSynced();
    const writer = holdForWriting(bench.database);
    const sync = bench.start(['sync']);
    await eventually('it has come as far as the database', () => isLocked(bench.database));
    const askedAt = performance.now();
    expect((await sync.stop()).code).toBe(143);
    expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
    writer.end();
    expectInOrder(bench.database);
    expect(bench.rows(OUTCOMES)).toEqual([{ outcome: 'changed' }]);
  });
});
