import { describe, it } from 'vitest';
import { expectAllSituations, FEW, MANY, playHistories, SEED } from './histories.ts';

/** A seed whose few histories include every situation. */
const FIXED_SEED = 1;

describe('a history of polls leaves what a model made only from the contract expects', () => {
  it.each([
    ['a few leagues', FEW, 40],
    ['so many leagues that the guard acts', MANY, 30],
  ])('%s, always the same histories', async (_, shape, numRuns) => {
    expectAllSituations(await playHistories(shape, numRuns, FIXED_SEED));
  });

  it.each([
    ['a few leagues', FEW, 10],
    ['so many leagues that the guard acts', MANY, 6],
  ])(`%s, random histories (TEST_SEED=${SEED})`, async (_, shape, numRuns) => {
    await playHistories(shape, numRuns, SEED);
  });
});
