import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRows } from '../../support/database.ts';
import { unlessAll } from '../../support/extent.ts';
import { eventually } from '../../support/program.ts';
import { childrenOf, expectHoldsNoMore, type Look } from './sample.ts';
import { SEED, type Soak, soak } from './soak.ts';

const MB = 2 ** 20;
const POLLS = unlessAll(1_000, 5_000);
/** Polls until code is compiled and caches are full. */
const SETTLED = 500;
const LARGEST_HEAP_GROWTH_BYTES = 5 * MB;
/** The WAL is checkpointed every 1,000 pages of 4 KB, plus the changes of one poll. */
const LARGEST_LOG_BYTES = 6 * MB;

describe(`a soak by chance (TEST_SEED=${SEED})`, () => {
  it(`of ${POLLS} polls through faults leaves the worker with the live heap, files and timers that it had after 500`, async () => {
    const done = await soak({ lookAt: [50, ...hundreds(5, POLLS / 100, 5)], from: SETTLED });
    const [, settled, ...later] = done.looks;
    expectNoGrowth(settled, later);
    expectTurmoil(done);
    expect(done.code).toBe(0);
  });

  it('of 1,000 polls with a published copy leaves no process, file or memory behind', async () => {
    const seen = new Set<number>();
    const published = (folder: string): string => join(folder, 'copy.db');
    const done = await soak({
      lookAt: [50, ...hundreds(5, 10, 5)],
      from: SETTLED,
      env: { LEAGUE_SYNC_PUBLISH: 'copy.db' },
      settle: async ({ pid }, { folder }) => {
        await eventually('the last copy is made', () => childrenOf(pid).length === 0);
        seen.add(statSync(published(folder)).ino);
      },
    });
    const [, settled, ...later] = done.looks;
    expectNoGrowth(settled, later);
    expectTurmoil(done);
    expect(done.code).toBe(0);
    expect(seen.size).toBe(done.looks.length);
    const last = 'SELECT max(seq) AS last FROM league_changes';
    expect(readRows(published(done.bench.folder), last)).toEqual(done.bench.rows(last));
  });
});

/** A range of hundreds with a step. */
function hundreds(first: number, last: number, step: number): readonly number[] {
  return Array.from({ length: (last - first) / step + 1 }, (_, index) => (first + index * step) * 100);
}

function expectNoGrowth(settled: Look | undefined, later: readonly Look[]): void {
  const first = settled?.heap ?? 0;
  for (const now of later) {
    const at = `after ${now.polls} polls`;
    expect(now.heap - first, `live heap ${at}`).toBeLessThan(LARGEST_HEAP_GROWTH_BYTES);
    expectHoldsNoMore(now, settled);
    expect(now.wal, `bytes of the log ${at}`).toBeLessThan(LARGEST_LOG_BYTES);
  }
}

/** Expects polls of every outcome: identical polls would test nothing. */
function expectTurmoil({ outcomes, polls, logins }: Soak): void {
  for (const outcome of OUTCOMES) expect(outcomes[outcome] ?? 0, outcome).toBeGreaterThanOrEqual(polls / 1_000);
  expect(logins).toBeGreaterThan(polls / 50);
}

const OUTCOMES = ['changed', 'unchanged', 'held', 'failed (contract)', 'failed (status)', 'failed (credentials)'];
