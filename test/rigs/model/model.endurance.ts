import { describe, it } from 'vitest';
import { expectAllSituations, FEW, MANY, playHistories, SEED } from './histories.ts';

describe(`a random history of polls (TEST_SEED=${SEED})`, () => {
  it.each([
    ['a few leagues', FEW, 400],
    ['so many leagues that the guard acts', MANY, 240],
  ])('of %s leaves what a model made only from the contract expects', async (_, shape, numRuns) => {
    expectAllSituations(await playHistories(shape, numRuns, SEED));
  });
});
