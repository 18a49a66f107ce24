import fc from 'fast-check';
import { expect } from 'vitest';
import { type Shape, stepsOf } from './arbitrary.ts';
import { createBenchMaker, type ModelBench } from './bench.ts';
import { playSteps } from './life.ts';

export const SEED = process.env.TEST_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.TEST_SEED);

const LIMITS = [20, 20, 0, 10, 29, 50, 75, 100];
export const FEW: Shape = { leagues: 8, together: [1, 2, 3], churn: 1, edits: 5, steps: 8, calm: 1, limits: LIMITS };
/**
 * Enough leagues for the removal guard, which acts above five removals; sizes at which a share is exactly the limit.
 */
export const MANY: Shape = {
  leagues: 60,
  together: [5, 6, 7, 8, 10, 20, 40],
  churn: 12,
  edits: 2,
  steps: 7,
  calm: 6,
  limits: [20, 20, 25, 30, 50],
};

/** Every situation that the histories of one shape must include. */
const SITUATIONS = [
  ...['run changed', 'run unchanged', 'run held', 'run failed', 'run interrupted'],
  ...['added', 'changed', 'removed', 'restored', 'an accepted removal', 'a share at its limit', 'open', 'resolved'],
  'a quiet difference',
];

/** Wraps the database of a history, to do more with it. */
export type WrapBench = (bench: ModelBench) => Promise<ModelBench>;

/** Plays random histories of polls, compares each with the model, and returns the situations that occurred. */
export async function playHistories(
  shape: Shape,
  numRuns: number,
  seed: number,
  wrap: WrapBench = async (bench) => bench,
): Promise<ReadonlySet<string>> {
  const witnessed = new Set<string>();
  using maker = await createBenchMaker();
  const history = fc.asyncProperty(stepsOf(shape), async (steps) => {
    await using bench = await wrap(await maker.open());
    await playSteps(bench, steps, witnessed);
  });
  await fc.assert(history, { seed, numRuns });
  return witnessed;
}

export function expectAllSituations(witnessed: ReadonlySet<string>): void {
  expect([...witnessed].sort()).toEqual(SITUATIONS.toSorted());
}
