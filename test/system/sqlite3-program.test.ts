import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { setUp, setUpSynced } from '../support/bench.ts';
import { askSqlite3, readRows } from '../support/database.ts';

describe("Debian's sqlite3 program", () => {
  it.each(['active_leagues', 'league_field_changes', 'league_versions', 'freshness'])(
    'reads the view %s',
    async (view) => {
      const { database } = await setUpSynced();
      // The age grows between the two reads.
      const sql = `SELECT *${view === 'freshness' ? ', 0 AS age_seconds' : ''} FROM ${view}`;
      expect(askSqlite3(database, sql)).toEqual(readRows(database, sql));
    },
  );

  it('finds the file intact', async () => {
    const { database } = await setUpSynced();
    expect(askSqlite3(database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  it('cannot put text where a number belongs', async () => {
    const { database } = await setUpSynced();
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
