import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { askSqlite3, readRows } from '../support/database.ts';

async function setUpFilled() {
  const bench = await setUp();
  expect((await bench.run(['sync'])).code).toBe(0);
  return bench;
}

describe("Debian's sqlite3 program", () => {
  it.each(['active_leagues', 'league_field_changes', 'league_versions', 'freshness'])(
    'reads the view %s',
    async (view) => {
      const { database } = await setUpFilled();
      // The age grows between the two reads.
      const sql = `SELECT *${view === 'freshness' ? ', 0 AS age_seconds' : ''} FROM ${view}`;
      expect(askSqlite3(database, sql)).toEqual(readRows(database, sql));
    },
  );

  it('finds the file intact', async () => {
    const { database } = await setUpFilled();
    expect(askSqlite3(database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  it('cannot put text where a number belongs', async () => {
    const { database } = await setUpFilled();
    const update = (): unknown =>
      execFileSync('sqlite3', [database, "UPDATE leagues SET priority = 'abc'"], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    expect(update).toThrow(/CHECK constraint failed|cannot store/);
  });

  it('is told who holds the lock', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll();
    expect(askSqlite3(`${bench.database}.lock`, 'SELECT pid FROM holder')).toEqual([{ pid: worker.pid }]);
  });
});
