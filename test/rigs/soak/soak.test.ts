import { expect, it } from 'vitest';
import { expectHoldsNoMore, NO_COUNT } from './sample.ts';
import { SEED, soak } from './soak.ts';

it(`a worker that polls 150 times through faults by chance (TEST_SEED=${SEED}) ends with the files and timers that it had after 40`, {
  timeout: 120_000,
}, async ({ skip }) => {
  if (NO_COUNT !== undefined) {
    console.warn(`skipped: ${NO_COUNT}`);
    return skip(NO_COUNT);
  }
  const { looks, code } = await soak({ lookAt: [40, 150] });
  const [early, late] = looks;
  expectHoldsNoMore(late, early);
  expect(code).toBe(0);
});
