import { expect, it } from 'vitest';
import { killDeliveries } from './kill.ts';

// A sample of what deliveries.endurance.ts does with many more kills.

const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

it('a worker that is killed while a failing receiver gets its messages loses, repeats and reorders none', {
  timeout: 120_000,
}, async ({ annotate }) => {
  const outcome = await killDeliveries({ seed: SEED, kills: 12 });
  await annotate(`TEST_SEED=${SEED}: ${JSON.stringify(outcome)}`);
  expect(outcome.changes).toBeGreaterThan(400);
});
