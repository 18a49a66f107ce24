import { describe, expect, it } from 'vitest';
import { type Bench, leagueRequests, setUp, setUpFor } from '../support/bench.ts';
import { freezeCopy, pad } from '../support/copy-process.ts';
import { isWritten } from '../support/database.ts';
import { makeLeagues } from '../support/leagues.ts';
import { eventually, readLines } from '../support/program.ts';
import { countLeagues, pollChange, setUpPublishing, startFresh } from '../support/publish-setup.ts';
import { fail, hang, listLeagues, type Reply, type Service, startService } from '../support/service.ts';
import { expectCleanStop, expectInOrder, STOPPING, wordsOf } from '../support/stopping.ts';

/** Enough leagues for a transaction of most of a second, so that a signal can arrive within it. */
const MANY = 20_000;
const RUNS = 'SELECT outcome, http_status, attempts, received FROM runs ORDER BY id';

/** The last log lines of an idle worker, and of one within a poll. */
const IDLE_END = [STOPPING, expect.stringMatching(/^stopped\b/)];
const POLL_END = [STOPPING, expect.stringMatching(/^leagues: interrupted \(/), expect.stringMatching(/^stopped\b/)];

/** A bench with a service with these responses to polls. */
async function serve(...leagues: readonly Reply[]): Promise<{ readonly bench: Bench; readonly service: Service }> {
  const service = await startService({ leagues });
  return { bench: setUpFor(service.url), service };
}

function answered({ seen }: Service): number {
  return seen('leagues').filter(({ endedAt }) => endedAt < Infinity).length;
}

const listMany = (): Reply => listLeagues(makeLeagues(MANY));

/** Waits until the transaction of the poll is in progress. */
async function withinTransaction({ database }: Bench, service: Service): Promise<void> {
  await eventually('the request is answered', () => answered(service) > 0);
  await eventually('the poll is being applied', () => isWritten(database));
}

describe('a worker that is stopped', () => {
  it('between polls logs nothing else', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    expect(wordsOf(await expectCleanStop(bench, worker))).toEqual(IDLE_END);
  });

  it('within its first login says that the poll was interrupted, too', async () => {
    const bench = await setUp({ faults: ['hang'] });
    const worker = bench.start(['run']);
    await worker.waitForLog(({ msg }) => /^worker started/.test(String(msg)));
    await eventually('the login hangs', () => bench.simulator.requests.length === 1);
    const words = wordsOf(await expectCleanStop(bench, worker));
    expect(words.filter((line) => !line.startsWith('login '))).toEqual(POLL_END);
    expect(bench.rows(RUNS)).toMatchObject([{ outcome: 'interrupted', http_status: null, attempts: 0 }]);
  });

  it('within a request leaves it unanswered and says that the poll was interrupted', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    bench.simulator.setFault('hang', true);
    worker.send('SIGHUP');
    await eventually('the request hangs', () => leagueRequests(bench.simulator).length === 2);
    expect(wordsOf(await expectCleanStop(bench, worker))).toEqual(POLL_END);
    expect(bench.rows(RUNS)[1]).toMatchObject({ outcome: 'interrupted', http_status: null, attempts: 1 });
  });

  it('while waiting for the last attempt records no failure, and keeps the status of the service', async () => {
    // The last attempt hangs.
    const { bench, service } = await serve(fail(503), fail(503), fail(503), hang());
    const worker = bench.start(['run']);
    await eventually('three attempts have failed', () => answered(service) === 3);
    expect(wordsOf(await expectCleanStop(bench, worker))).toEqual(POLL_END);
    expect(bench.rows(RUNS)).toMatchObject([{ outcome: 'interrupted', http_status: 503 }]);
  });

  it('during a Retry-After that the run waits out keeps its end', async () => {
    const { bench, service } = await serve(fail(503, { 'retry-after': '60' }));
    const worker = bench.start(['run']);
    await eventually('an attempt has failed', () => answered(service) === 1);
    await eventually(
      'the pause is recorded',
      () => bench.rows('SELECT id FROM runs WHERE not_before > 0').length === 1,
    );
    expect(wordsOf(await expectCleanStop(bench, worker))).toEqual(POLL_END);
    expect(bench.rows(RUNS)).toMatchObject([{ outcome: 'interrupted', http_status: 503, attempts: 1 }]);
    expect(bench.rows('SELECT not_before > finished_at AS kept FROM runs')).toEqual([{ kept: 1 }]);
  });

  it('during a Retry-After that no run waits out does not wait for its end', async () => {
    const bench = await setUp({ faults: ['long-pause'] });
    const worker = bench.start(['run']);
    await worker.waitForPoll('failed');
    expect(wordsOf(await expectCleanStop(bench, worker))).toEqual(IDLE_END);
    expect(bench.rows('SELECT outcome, not_before > finished_at AS kept FROM runs')).toEqual([
      { outcome: 'failed', kept: 1 },
    ]);
  });

  it('within the transaction of a poll finishes it and says so', async () => {
    const { bench, service } = await serve(listMany);
    const worker = bench.start(['run']);
    await withinTransaction(bench, service);
    const words = wordsOf(await expectCleanStop(bench, worker));
    expect(words.slice(-3)).toEqual([
      expect.stringMatching(/^leagues: changed: 20000 received, 20000 added/),
      ...IDLE_END,
    ]);
    expect(bench.rows(RUNS)).toMatchObject([{ outcome: 'changed', received: MANY }]);
  });

  it('while its copy is published leaves the earlier copy, without a warning', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'])).code).toBe(0);
    pad(bench.database);
    const worker = await startFresh(bench);
    await pollChange(bench, worker);
    const copying = await freezeCopy(worker.pid, bench.shared);
    expect(wordsOf(await expectCleanStop(bench, worker))).toEqual(IDLE_END);
    expect([copying.hasEnded(), countLeagues(bench.copy)]).toEqual([true, 1]);
  });
});

describe('sync that is stopped within the transaction', () => {
  it('finishes it, and reports it', async () => {
    const { bench, service } = await serve(listMany);
    const sync = bench.start(['sync'], { LEAGUE_SYNC_LOG_LEVEL: 'info' });
    await withinTransaction(bench, service);
    const { stderr } = await sync.stop();
    expect(wordsOf(readLines(stderr)).at(-1)).toMatch(/^leagues: changed: 20000 received, 20000 added/);
    expectInOrder(bench.database);
    expect(bench.rows(RUNS)).toMatchObject([{ outcome: 'changed', received: MANY }]);
  });

  it('ends with 143', async () => {
    const { bench, service } = await serve(listMany);
    const sync = bench.start(['sync']);
    await withinTransaction(bench, service);
    expect((await sync.stop()).code).toBe(143);
  });
});
