import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { pad } from '../support/copy-process.ts';
import { openConnection } from '../support/database.ts';
import { makeLeagues } from '../support/leagues.ts';
import { expectCleanStop } from '../support/stopping.ts';

const NOTABLE_BYTES = 64_000_000;
/** The size to which SQLite truncates the WAL. */
const LIMIT_BYTES = 16 * 2 ** 20;
const POLLS_AFTER = 3;

it('a long read transaction causes warnings when the WAL is large and when it has doubled, and the WAL shrinks after it', async () => {
  const bench = await setUp();
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  const reader = openConnection(bench.database, { readonly: true });
  reader.exec('BEGIN');
  const read = () => reader.prepare('SELECT count(*) AS n, max(seq) AS last FROM league_changes').get();
  const pinned = read();
  let priority = 0;
  const poll = async (): Promise<void> => {
    priority += 1;
    bench.simulator.setLeagues(makeLeagues(10, { priority }));
    worker.send('SIGHUP');
    await worker.waitForPoll();
  };
  const warned = () =>
    worker.log().filter(({ msg }) => /has grown to \d+ MB: another program keeps a read transaction/.test(String(msg)));

  // A poll that makes the WAL large may just have many changes; the next one makes it larger still.
  pad(bench.database);
  await poll();
  expect(warned()).toHaveLength(0);
  await poll();
  await expect.poll(warned).toHaveLength(1);
  for (let times = 0; times < 2; times += 1) pad(bench.database);
  await poll();
  await poll();
  await expect.poll(warned).toHaveLength(2);
  const [first = 0, second = 0] = warned().map((line) => Number(line.wal_bytes));
  expect(first).toBeGreaterThanOrEqual(NOTABLE_BYTES);
  expect(second).toBeGreaterThanOrEqual(2 * first);
  expect(read()).toEqual(pinned);
  reader.close();
  for (let polls = 0; polls < POLLS_AFTER; polls += 1) await poll();
  expect(statSync(`${bench.database}-wal`).size).toBeLessThanOrEqual(LIMIT_BYTES);
  await expectCleanStop(bench, worker);
});
