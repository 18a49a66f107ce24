import { describe, expect, it } from 'vitest';
import { skipWithoutPostgres } from '../../postgres/postgres.ts';
import { unlessAll } from '../../support/extent.ts';
import { allFaults, playFaults } from './faults.ts';

skipWithoutPostgres();

const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

const FAULTS = allFaults(unlessAll(6, 1));

describe(`a worker with a mirror (TEST_SEED=${SEED})`, () => {
  it(`follows after ${FAULTS.length} faults, and no reader sees half of a poll`, async () => {
    const outcome = await playFaults(SEED, FAULTS);
    console.info(JSON.stringify(outcome));
    expect(outcome.reads).toBeGreaterThan(1_000);
  });
});
