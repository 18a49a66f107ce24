import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { dumpTables, type Row } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';

const POLLS = 20;
const LONGEST_GROWTH_BYTES = 24 * 1024;

/** Elements that cannot be stored, each for another reason. */
const BAD = [
  'not a league',
  makeLeague('no-name', { league_name: null }),
  makeLeague('no-priority', { priority: 'high' }),
];
/** Leagues that can be stored, each with drift. */
const ODD = [
  makeLeague('new-field', { broadcast_partner: 'Example TV' }),
  makeLeague('number-for-text', { sport_db_id: 4391 }),
  makeLeague('no-flag', { rankings: 'maybe' }),
];

function storedBytes(database: string): number {
  return statSync(database).size + (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0);
}

it('twenty polls of the same list, bad elements and drift in it, leave every row as it was and grow the files by less than 24 KB each', async () => {
  const bench = await setUp();
  const list = [...bench.simulator.leagues(), ...ODD];
  bench.simulator.setLeagues([...list, ...BAD]);
  const worker = bench.startWorker();
  await worker.waitForPoll('changed');
  // The login is written in a separate transaction.
  await eventually('the login is recorded', () => bench.rows('SELECT id FROM logins').length === 1);
  const { runs: runsBefore = [], ...before } = dumpTables(bench.database);
  expect(before.leagues).toHaveLength(list.length);
  expect(before.rejected_leagues).toHaveLength(BAD.length);
  expect(new Set(before.drift?.map(({ kind }) => kind))).toEqual(new Set(['unknown-field', 'wrong-type']));

  const sizes = [storedBytes(bench.database)];
  for (let poll = 1; poll <= POLLS; poll += 1) {
    worker.send('SIGHUP');
    await worker.waitForPoll('unchanged');
    sizes.push(storedBytes(bench.database));
  }

  const { runs: runsAfter = [], ...after } = dumpTables(bench.database);
  expect(after).toEqual(before);
  expect(runsAfter.slice(0, -POLLS)).toEqual(runsBefore);
  const [listed, rejected] = [BigInt(list.length), BigInt(BAD.length)];
  const counts = { received: listed + rejected, unchanged: listed, rejected };
  const expected: readonly Row[] = Array.from({ length: POLLS }, () => ({ outcome: 'unchanged', ...counts }));
  expect(runsAfter.slice(-POLLS)).toMatchObject(expected);
  const growths = sizes.slice(1).map((size, index) => size - (sizes[index] ?? 0));
  expect(Math.max(...growths)).toBeLessThan(LONGEST_GROWTH_BYTES);
  // Otherwise a checkpoint happened in between, and nothing was measured.
  expect(Math.min(...growths)).toBeGreaterThan(0);
});
