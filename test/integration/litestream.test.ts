import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { setUp } from '../support/bench.ts';
import { makeFolder } from '../support/folder.ts';
import { makeLeagues } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';

const KEEP_WAL = { LEAGUE_SYNC_KEEP_WAL: 'true' };

/**
 * Does to a file what Litestream does: WAL mode, two tables, a read transaction without end, checkpoints, and short
 * write locks. Closes as Litestream does at its own stop.
 */
function attachStandIn(path: string): { readonly sync: () => void; readonly close: () => void } {
  const writer = new Database(path, { timeout: 2_000 });
  writer.pragma('journal_mode = WAL');
  writer.exec(`CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);
    INSERT INTO _litestream_seq VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1`);
  const reader = new Database(path, { readonly: true });
  const readAgain = (): void => {
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM _litestream_seq').get();
  };
  readAgain();
  const close = (): void => {
    reader.close();
    writer.close();
  };
  onTestFinished(close);
  return {
    sync: () => {
      writer.exec('BEGIN IMMEDIATE; INSERT INTO _litestream_lock VALUES (1); ROLLBACK');
      reader.exec('ROLLBACK');
      writer.pragma('wal_checkpoint(PASSIVE)');
      readAgain();
    },
    close,
  };
}

async function setUpTouched() {
  const bench = await setUp({ leagues: makeLeagues(3) });
  const path = makeFolder().file('leagues.db');
  return { bench, env: { ...KEEP_WAL, LEAGUE_SYNC_DATABASE: path }, litestream: attachStandIn(path) };
}

describe('a file that Litestream touched first', () => {
  it('counts as new, and is used while Litestream goes on', async () => {
    const { bench, env, litestream } = await setUpTouched();
    expect((await bench.run(['status'], env)).stderr).toContain('is empty; start the worker');
    expect(await bench.run(['sync'], env)).toMatchObject({ code: 0, stderr: '' });
    litestream.sync();
    bench.simulator.setLeagues(makeLeagues(4));
    expect((await bench.run(['sync'], env)).stdout).toContain('1 added');
    expect((await bench.run(['status'], env)).stdout).toContain('up to date · 4 leagues');
    expect((await bench.run(['check'], env)).stdout).toMatch(/ok +database/);
  });

  it('counts as ours while our mark is in the WAL alone', async () => {
    const { bench, env, litestream } = await setUpTouched();
    litestream.close();
    for (const count of [0, 1, 2]) {
      bench.simulator.setLeagues(makeLeagues(3 + count));
      expect(await bench.run(['sync'], env)).toMatchObject({ code: 0, stderr: '' });
    }
    expect((await bench.run(['status'], env)).stdout).toContain('5 leagues');
  });
});

it('LEAGUE_SYNC_KEEP_WAL leaves the WAL at a clean stop, with all that a reader needs', async () => {
  const bench = await setUp({ leagues: makeLeagues(3) });
  const worker = bench.startWorker(KEEP_WAL);
  await worker.waitForPoll('changed');
  const { stdout } = await worker.stop();
  expect(stdout).toContain('LEAGUE_SYNC_KEEP_WAL is set, so leagues.db-wal is left beside it');
  for (const suffix of ['-wal', '-shm']) expect(existsSync(bench.database + suffix)).toBe(true);
  expect(statSync(`${bench.database}-wal`).size).toBeGreaterThan(1_000);
  expect(bench.rows('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  expect(bench.rows('SELECT count(*) AS leagues FROM leagues')).toEqual([{ leagues: 3 }]);
  expect((await bench.run(['sync'])).code).toBe(0);
  await eventually('one file is left', () => !existsSync(`${bench.database}-wal`));
});
