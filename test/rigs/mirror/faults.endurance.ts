import { describe, expect, it } from 'vitest';
import { skipWithoutPostgres } from '../../postgres/postgres.ts';
import { unlessAll } from '../../support/extent.ts';
import { allFaults, playFaults } from './faults.ts';

skipWithoutPostgres();

const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

const FAULTS = allFaults(unlessAll(4, 1));

describe(`a worker with a mirror (TEST_SEED=${SEED})`, () => {
  it(`follows after ${FAULTS.length} faults, and no reader sees half of a poll`, async () => {
    const { late, ...outcome } = await playFaults(SEED, FAULTS);
    const sorted = late.toSorted((one, other) => one - other);
    const at = (share: number): number | undefined => sorted[Math.ceil(sorted.length * share) - 1];
    const lateMs = { polls: late.length, median: at(0.5), p99: at(0.99), longest: at(1) };
    console.info(JSON.stringify({ ...outcome, after_the_second_ms: lateMs }));
    expect(outcome.reads).toBeGreaterThan(1_000);
  });
});
