import { expect, it } from 'vitest';
import { skipWithoutPostgres } from '../../postgres/postgres.ts';
import { unlessAll } from '../../support/extent.ts';
import { allFaults, playFaults } from './faults.ts';

skipWithoutPostgres();

const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

const FAULTS = allFaults(unlessAll(6, 1));

it(`a mirror follows after ${FAULTS.length} faults, and no reader sees half a poll (TEST_SEED=${SEED})`, async () => {
  const outcome = await playFaults(SEED, FAULTS);
  console.info(JSON.stringify(outcome));
  expect(outcome.reads).toBeGreaterThan(1_000);
});
