import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { leagueRequests, type SimulatedBench, setUp } from '../support/bench.ts';
import { openConnection, readRows } from '../support/database.ts';
import { eventually, type RunningProgram } from '../support/program.ts';

/** The maximum duration of a stop by the contract. */
const LONGEST_STOP_MS = 10_000;

/** A worker in the middle of its second poll: the service has the request and never answers. */
async function startHanging(bench: SimulatedBench): Promise<RunningProgram> {
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  bench.simulator.setFault('hang', true);
  worker.send('SIGHUP');
  await eventually('the request hangs', () => leagueRequests(bench.simulator).length === 2);
  return worker;
}

function filesBeside(database: string): readonly string[] {
  return readdirSync(dirname(database));
}

/** Another program with an open write transaction. */
function holdForWriting(database: string): Database.Database {
  const writer = openConnection(database);
  writer.exec('BEGIN IMMEDIATE');
  return writer;
}

it('a worker under npm counts a Ctrl-C that npm forwards once, and stops cleanly', async () => {
  const bench = await setUp();
  const worker = bench.start(['run'], { npm_lifecycle_event: 'start' });
  await worker.waitForPoll('changed');
  worker.send('SIGINT');
  await worker.waitForLog(({ msg }) => /^stopping/.test(String(msg)));
  worker.send('SIGINT');
  expect(await worker.waitForExit()).toMatchObject({ code: 0, stderr: '' });
  expect(worker.log().at(-1)?.msg).toMatch(/^stopped; all data saved/);
});

describe('a worker', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('that gets %s within a request ends cleanly with 0', async (signal) => {
    const bench = await setUp();
    const worker = await startHanging(bench);
    const askedAt = performance.now();
    const { code } = await worker.stop(signal);

    expect(code).toBe(0);
    expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
    expect(filesBeside(bench.database)).toEqual(['leagues.db']);
    expect(readRows(bench.database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(readRows(bench.database, 'SELECT outcome, error_kind FROM runs ORDER BY id')).toEqual([
      { outcome: 'changed', error_kind: null },
      { outcome: 'interrupted', error_kind: null },
    ]);
    expect(leagueRequests(bench.simulator)).toHaveLength(2);
  });

  it('that gets SIGTERM within its first login ends cleanly with 0', async () => {
    const bench = await setUp({ faults: ['hang'] });
    const worker = bench.start(['run']);
    await eventually('the login hangs', () => bench.simulator.requests.length === 1);
    expect((await worker.stop()).code).toBe(0);
    expect(filesBeside(bench.database)).toEqual(['leagues.db']);
    expect(bench.rows('SELECT outcome FROM runs')).toEqual([{ outcome: 'interrupted' }]);
  });

  it('that gets SIGTERM between polls leaves one file that any tool can open', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    expect((await worker.stop()).code).toBe(0);
    expect(filesBeside(bench.database)).toEqual(['leagues.db']);
    expect(readRows(bench.database, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'delete' }]);
  });

  it('that is stopped while a reader is connected leaves an emptied log', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    const reader = openConnection(bench.database, { readonly: true });
    expect(reader.prepare('SELECT count(*) AS n FROM leagues').get()).toEqual({ n: 124 });
    expect((await worker.stop()).code).toBe(0);
    expect(reader.prepare('SELECT count(*) AS n FROM leagues').get()).toEqual({ n: 124 });
    expect(filesBeside(bench.database)).not.toContain('leagues.db.lock');
    expect(statSync(`${bench.database}-wal`).size).toBe(0);
  });

  it('that is stopped within a request ends in time though another program holds the database', async () => {
    const bench = await setUp();
    const worker = await startHanging(bench);
    const writer = holdForWriting(bench.database);
    const askedAt = performance.now();
    const { code } = await worker.stop();

    expect(code).toBe(0);
    expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
    writer.close();
    expect((await bench.run(['sync'], { LEAGUE_SYNC_RUN_TIMEOUT: '1s' })).code).toBe(1);
    expect(bench.rows('SELECT outcome FROM runs ORDER BY id')).toEqual([
      { outcome: 'changed' },
      { outcome: 'interrupted' },
      { outcome: 'failed' },
    ]);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('that gets a second %s ends at once with %i', async (signal, expected) => {
    const bench = await setUp();
    const worker = await startHanging(bench);
    const writer = holdForWriting(bench.database);
    worker.send('SIGTERM');
    await worker.waitForLog((line) => String(line.msg).startsWith('stopping'));
    const askedAt = performance.now();
    const { code } = await worker.stop(signal);

    expect(code).toBe(expected);
    expect(performance.now() - askedAt).toBeLessThan(3_000);
    writer.close();
    expect(readRows(bench.database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  it('polls at once on SIGHUP, and records the trigger', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    worker.send('SIGHUP');
    await worker.waitForPoll('unchanged');
    expect(bench.rows('SELECT kind, trigger, outcome FROM runs ORDER BY id')).toEqual([
      { kind: 'leagues', trigger: 'start', outcome: 'changed' },
      { kind: 'leagues', trigger: 'manual', outcome: 'unchanged' },
    ]);
  });

  it('that is killed within a poll leaves a running row, a free lock, and a next start that says interrupted', async () => {
    const bench = await setUp({ faults: ['hang'] });
    const killed = bench.start(['run']);
    await eventually('the poll has begun', () => bench.simulator.requests.length === 1);
    expect((await killed.stop('SIGKILL')).signal).toBe('SIGKILL');
    expect(bench.rows('SELECT outcome, finished_at FROM runs')).toEqual([{ outcome: 'running', finished_at: null }]);

    bench.simulator.setFault('hang', false);
    const next = bench.start(['run']);
    await next.waitForPoll('changed');
    expect(bench.rows('SELECT outcome, received FROM runs ORDER BY id')).toEqual([
      { outcome: 'interrupted', received: 0 },
      { outcome: 'changed', received: 124 },
    ]);
    expect((await next.stop()).code).toBe(0);
    expect(filesBeside(bench.database)).toEqual(['leagues.db']);
  });

  it('loses nothing that it reported done when it is killed', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    await worker.stop('SIGKILL');
    expect(readRows(bench.database, 'SELECT outcome, added FROM runs')).toEqual([{ outcome: 'changed', added: 124 }]);
    expect(readRows(bench.database, 'SELECT count(*) AS n FROM active_leagues')[0]?.n).toBeGreaterThan(50);
    expect(readRows(bench.database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});

describe('a one-shot command', () => {
  it.each([
    ['sync', 'SIGTERM', 143],
    ['sync', 'SIGINT', 130],
    ['profile', 'SIGTERM', 143],
    ['sync --dry-run', 'SIGTERM', 143],
  ] as const)('%s that gets %s within a request ends with %i', async (command, signal, expected) => {
    const bench = await setUp({ faults: ['hang'] });
    const program = bench.start(command.split(' '));
    await eventually('the request hangs', () => bench.simulator.requests.length === 1);
    expect((await program.stop(signal)).code).toBe(expected);
    const left = command === 'sync --dry-run' ? [] : ['data', 'data/leagues.db'];
    expect(readdirSync(bench.folder, { recursive: true })).toEqual(left);
  });
});
