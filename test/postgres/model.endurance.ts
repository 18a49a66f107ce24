import { describe, it } from 'vitest';
import { FEW, MANY, SEED } from '../rigs/model/histories.ts';
import { unlessAll } from '../support/extent.ts';
import { mirrorHistories } from './histories.ts';
import { skipWithoutPostgres } from './postgres.ts';

skipWithoutPostgres();

const ROUNDS = unlessAll(5, 60);

describe(`the mirror of a random history of polls (TEST_SEED=${SEED})`, () => {
  it.each([
    ['a few leagues', FEW, 3 * ROUNDS],
    ['so many leagues that the guard acts', MANY, 2 * ROUNDS],
  ])('of %s has every value', async (_, shape, numRuns) => {
    await mirrorHistories(shape, numRuns);
  });
});
