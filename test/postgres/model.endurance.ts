import { describe, it } from 'vitest';
import { FEW, MANY, SEED } from '../rigs/model/histories.ts';
import { mirrorHistories } from './histories.ts';
import { skipWithoutPostgres } from './postgres.ts';

skipWithoutPostgres();

describe(`the mirror of a random history of polls (TEST_SEED=${SEED})`, () => {
  it.each([
    ['a few leagues', FEW, 180],
    ['so many leagues that the guard acts', MANY, 120],
  ])('of %s has every value', async (_, shape, numRuns) => {
    await mirrorHistories(shape, numRuns);
  });
});
