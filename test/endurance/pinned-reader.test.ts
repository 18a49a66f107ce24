import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { listOf, startVersions } from '../rigs/kills/version.ts';
import { setUpFor } from '../support/bench.ts';
import { openConnection } from '../support/database.ts';
import type { LogLine } from '../support/program.ts';
import { expectCleanStop } from '../support/stopping.ts';

/** A tenth of them change at each poll. */
const LEAGUES = 10_000;
const NOTABLE_BYTES = 64_000_000;
/** The size after the second warning and before the third. */
const GOAL_BYTES = 2.5 * NOTABLE_BYTES;
const MOST_POLLS = 400;
/** The size to which SQLite truncates the WAL. */
const LIMIT_BYTES = 16 * 2 ** 20;
const POLLS_AFTER = 3;

it('a long read transaction causes warnings when the WAL is large and when it has doubled, and the WAL shrinks after it', async () => {
  const service = await startVersions(LEAGUES);
  const bench = setUpFor(service.url);
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  const reader = openConnection(bench.database, { readonly: true });
  reader.exec('BEGIN');
  const read = () => reader.prepare('SELECT count(*) AS n, max(changed_at) AS newest FROM leagues').get();
  const pinned = read();
  const logBytes = (): number => statSync(`${bench.database}-wal`).size;
  const saying = (what: RegExp): readonly LogLine[] => worker.log().filter(({ msg }) => what.test(String(msg)));
  const poll = async (): Promise<void> => {
    worker.send('SIGHUP');
    await worker.waitForPoll('changed');
  };

  const sizes = [logBytes()];
  for (let polls = 0; logBytes() < GOAL_BYTES && polls < MOST_POLLS; polls += 1) {
    await poll();
    sizes.push(logBytes());
  }
  console.info(`MB of log after each poll: ${sizes.map((bytes) => Math.round(bytes / 1e6)).join(' ')}`);
  expect(logBytes()).toBeGreaterThan(GOAL_BYTES);
  expect(read()).toEqual(pinned);
  reader.close();
  for (let polls = 0; polls < POLLS_AFTER; polls += 1) await poll();
  expect(logBytes()).toBeLessThanOrEqual(LIMIT_BYTES);

  await expectCleanStop(bench, worker);
  const warned = saying(/has grown to \d+ MB: another program keeps a read transaction open/).map((line) =>
    Number(line.wal_bytes),
  );
  expect(warned).toHaveLength(2);
  const [first = 0, second = 0] = warned;
  expect(first).toBeGreaterThanOrEqual(NOTABLE_BYTES);
  expect(second).toBeGreaterThanOrEqual(2 * first);
  expect(bench.rows('SELECT live_leagues AS n FROM freshness')).toEqual([
    { n: listOf(service.latest(), LEAGUES).length },
  ]);
});
