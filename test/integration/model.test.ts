import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Shape, stepsOf } from '../support/model-arbitrary.ts';
import { type BenchMaker, createBenchMaker } from '../support/model-bench.ts';
import { playSteps } from '../support/model-life.ts';

const SEED = process.env.TEST_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.TEST_SEED);
/** A run takes some 20 ms on its own, and many times that if other tests share the processors. */
const LONGEST_MS = 600_000;

const LIMITS = [20, 20, 0, 10, 29, 50, 75, 100];
const FEW: Shape = { leagues: 8, together: [1, 2, 3], churn: 1, edits: 5, steps: 8, calm: 1, limits: LIMITS };
/**
 * Enough leagues for the removal guard, which acts above five removals; sizes at which a share is exactly the limit.
 */
const MANY: Shape = {
  leagues: 60,
  together: [5, 6, 7, 8, 10, 20, 40],
  churn: 12,
  edits: 2,
  steps: 7,
  calm: 6,
  limits: [20, 20, 25, 30, 50],
};

let maker: BenchMaker;

beforeAll(async () => {
  console.info(`The histories of polls are made with TEST_SEED=${SEED}.`);
  maker = await createBenchMaker();
});
afterAll(() => maker[Symbol.dispose]());

/** Runs that many histories, and returns the names of the situations that occurred. */
async function playHistories(shape: Shape, numRuns: number): Promise<ReadonlySet<string>> {
  const witnessed = new Set<string>();
  const history = fc.asyncProperty(stepsOf(shape), async (steps) => {
    await using bench = await maker.open();
    await playSteps(bench, steps, witnessed);
  });
  await fc.assert(history, { seed: SEED, numRuns });
  return witnessed;
}

const EVERYTHING = [
  ...['run changed', 'run unchanged', 'run held', 'run failed', 'run interrupted'],
  ...['added', 'changed', 'removed', 'restored', 'an accepted removal', 'a share at its limit', 'open', 'resolved'],
];

describe(`a history of polls by chance (TEST_SEED=${SEED})`, () => {
  it.each([
    ['a few leagues', FEW, 1_000],
    ['so many leagues that the guard acts', MANY, 600],
  ])(
    'of %s leaves what a model made only from the contract expects',
    { timeout: LONGEST_MS },
    async (_, shape, numRuns) => {
      const witnessed = await playHistories(shape, numRuns);
      expect([...witnessed].sort()).toEqual(EVERYTHING.toSorted());
    },
  );
});
