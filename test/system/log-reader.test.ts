import { closeSync, constants, existsSync, openSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bench, EVERY_SECOND, leagueRequests, setUp } from '../support/bench.ts';
import { isLocked } from '../support/database.ts';
import { makeFifo, openFullFifo, openUntilEnd } from '../support/fifo.ts';
import { eventually } from '../support/program.ts';

/** The maximum duration of a stop by the contract. */
const LONGEST_STOP_MS = 10_000;

describe.each(['json', 'pretty'])('a worker that logs %s', (format) => {
  const settings = { LEAGUE_SYNC_LOG_FORMAT: format, LEAGUE_SYNC_SCHEDULE: EVERY_SECOND };

  it('to a FIFO without a reader keeps polling, and stops in time', async () => {
    const bench = await setUp();
    const worker = bench.start(['run'], settings, { stdout: openFullFifo() });
    await eventually('it has polled some times', () => leagueRequests(bench.simulator).length >= 3);
    const askedAt = performance.now();
    expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
    expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
  });

  it('to a reader that closes the pipe keeps polling, and exits 0 when stopped', async () => {
    const bench = await setUp();
    const path = makeFifo();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const worker = bench.start(['run'], settings, { stdout: openUntilEnd(path, constants.O_WRONLY) });
    await eventually('it has polled', () => leagueRequests(bench.simulator).length >= 1);
    closeSync(reader);
    await eventually('it has polled more often', () => leagueRequests(bench.simulator).length >= 4);
    expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
  });
});

/** Only a line of output is left at this point. */
const ENDING_MS = 4_000;

describe('sync with a stuck reader', () => {
  it('has stored the poll, and exits at once on the second signal', async () => {
    const bench = await setUp();
    const sync = bench.start(['sync'], {}, { stdout: openFullFifo() });
    await eventually('the poll is stored', () => isStored(bench));
    sync.send('SIGTERM');
    // If both signals are pending, the kernel decides which is delivered first.
    expect([130, 143]).toContain((await sync.stop('SIGINT')).code);
    expect(bench.rows('SELECT outcome FROM runs')).toEqual([{ outcome: 'changed' }]);
  });

  // It waits for its reader forever, and still holds the lock of the database.
  it('exits on the first signal', async () => {
    const bench = await setUp();
    const sync = bench.start(['sync'], {}, { stdout: openFullFifo() });
    await eventually('the poll is stored', () => isStored(bench));
    sync.send('SIGTERM');
    await eventually('it has ended', () => !sync.alive(), ENDING_MS);
  });

  it('does not keep a worker from starting', async () => {
    const bench = await setUp();
    const sync = bench.start(['sync'], {}, { stdout: openFullFifo() });
    await eventually('the poll is stored', () => isStored(bench));
    await eventually('the lock is free', () => !isLocked(bench.database), ENDING_MS);
    expect(sync.alive()).toBe(true);
  });
});

function isStored({ database, rows }: Bench): boolean {
  const hasTable = existsSync(database) && rows("SELECT name FROM sqlite_schema WHERE name = 'runs'").length === 1;
  return hasTable && rows("SELECT id FROM runs WHERE outcome = 'changed'").length === 1;
}
