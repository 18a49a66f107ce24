import { describe, expect, it } from 'vitest';
import { leagueRequests, setUp, setUpSynced } from '../support/bench.ts';
import { addBlockingTrigger, SECONDS } from '../support/blocking-trigger.ts';
import { freezeCopy, pad } from '../support/copy-process.ts';
import { askSqlite3, holdForWriting, isLocked, isWritten } from '../support/database.ts';
import { type Exit, eventually, type RunningProgram } from '../support/program.ts';
import { pollChange, setUpPublishing, startFresh } from '../support/publish-setup.ts';
import { STOPPING } from '../support/stopping.ts';

/** After the first signal, waits last three seconds. */
const AT_ONCE_MS = 1_500;

/** Sends the second signal, and expects an immediate exit. */
async function endAtOnce(program: RunningProgram, signal: NodeJS.Signals): Promise<Exit> {
  const askedAt = performance.now();
  const exit = await program.stop(signal);
  expect(performance.now() - askedAt).toBeLessThan(AT_ONCE_MS);
  return exit;
}

/** Expects a database that the next start can open. */
function expectSound(database: string): void {
  expect(askSqlite3(database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(isLocked(database)).toBe(false);
}

describe('a second signal exits at once', () => {
  it.each([
    ['SIGTERM', 'SIGINT', 130],
    ['SIGINT', 'SIGTERM', 143],
  ] as const)(
    'a worker that waits for its copy to be published: %s, then %s, is %i',
    async (first, second, expected) => {
      const bench = await setUpPublishing();
      expect((await bench.run(['sync'])).code).toBe(0);
      pad(bench.database);
      const worker = await startFresh(bench);
      await pollChange(bench, worker);
      await freezeCopy(worker.pid, bench.shared);
      worker.send(first);
      await worker.waitForLog(({ msg }) => msg === STOPPING);
      expect((await endAtOnce(worker, second)).code).toBe(expected);
      expectSound(bench.database);
      expect(bench.rows("SELECT count(*) AS n FROM runs WHERE outcome = 'changed'")).toEqual([{ n: 2 }]);
    },
  );

  it.each(['run', 'sync'])('%s that waits at its start for another program', async (command) => {
    const bench = await setUpSynced();
    const writer = holdForWriting(bench.database);
    const program = bench.start([command]);
    await eventually('it has come as far as the database', () => isLocked(bench.database));
    program.send('SIGTERM');
    // Two different signals, since the kernel merges equal pending ones; it also decides which of them comes first.
    expect([130, 143]).toContain((await endAtOnce(program, 'SIGINT')).code);
    writer.end();
    expectSound(bench.database);
  });

  // Node calls the handler of a signal when the event loop turns, which it does not within a transaction.
  it('a worker within a transaction, as soon as that is over', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    addBlockingTrigger(bench.database, { on: 'UPDATE ON leagues' }, SECONDS);
    bench.simulator.setLeagues(bench.simulator.leagues().slice(1));
    const before = leagueRequests(bench.simulator).length;
    worker.send('SIGHUP');
    await eventually('the request is answered', () => leagueRequests(bench.simulator)[before]?.status === 200);
    await eventually('the poll is being applied', () => isWritten(bench.database));
    worker.send('SIGTERM');
    worker.send('SIGINT');
    expect([130, 143]).toContain((await worker.waitForExit()).code);
    expectSound(bench.database);
    expect(bench.rows('SELECT outcome FROM runs')).toEqual([{ outcome: 'changed' }, { outcome: 'changed' }]);
  });
});
