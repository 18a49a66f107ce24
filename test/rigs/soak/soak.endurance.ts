import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRows } from '../../support/database.ts';
import { unlessAll } from '../../support/extent.ts';
import { eventually } from '../../support/program.ts';
import { childrenOf, expectHoldsNoMore } from './sample.ts';
import { SEED, soak } from './soak.ts';

const MB = 2 ** 20;
const POLLS = unlessAll(700, 4_900);
/** Polls until code is compiled and caches are full. */
const SETTLED = 350;
const LARGEST_HEAP_GROWTH_BYTES = 4 * MB;
/** The WAL is checkpointed every 1,000 pages of 4 KB, plus the changes of one poll. */
const LARGEST_LOG_BYTES = 6 * MB;
/** Identical polls would test nothing. */
const OUTCOMES = ['changed', 'unchanged', 'held', 'failed (contract)', 'failed (status)', 'failed (credentials)'];

it(`a soak of ${POLLS} polls through faults by chance (TEST_SEED=${SEED}) with a published copy leaves the worker with the live heap that it had after ${SETTLED}, and the processes, files and timers that it had at first`, async () => {
  const seen = new Set<number>();
  const published = (folder: string): string => join(folder, 'copy.db');
  const { looks, outcomes, logins, code, bench } = await soak({
    lookAt: [50, ...Array.from({ length: POLLS / SETTLED }, (_, index) => (1 + index) * SETTLED)],
    env: { LEAGUE_SYNC_PUBLISH: 'copy.db' },
    settle: async ({ pid }, { folder }) => {
      await eventually('the last copy is made', () => childrenOf(pid).length === 0);
      seen.add(statSync(published(folder)).ino);
    },
  });
  const [first, settled, ...later] = looks;
  for (const now of later) {
    const at = `after ${now.polls} polls`;
    expect(now.heap - (settled?.heap ?? 0), `live heap ${at}`).toBeLessThan(LARGEST_HEAP_GROWTH_BYTES);
    expectHoldsNoMore(now, first);
    expect(now.wal, `bytes of the log ${at}`).toBeLessThan(LARGEST_LOG_BYTES);
  }
  for (const outcome of OUTCOMES) expect(outcomes[outcome] ?? 0, outcome).toBeGreaterThanOrEqual(POLLS / 1_000);
  expect(logins).toBeGreaterThan(POLLS / 50);
  expect(code).toBe(0);
  expect(seen.size).toBe(looks.length);
  const last = 'SELECT max(seq) AS last FROM league_changes';
  expect(readRows(published(bench.folder), last)).toEqual(bench.rows(last));
});
