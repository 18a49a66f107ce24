import { describe, expect, it } from 'vitest';
import { unlessAll } from '../../support/extent.ts';
import { killDeliveries } from './kill.ts';

const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const KILLS = unlessAll(60, 200);

describe(`deliveries to a receiver that fails one time in three (TEST_SEED=${SEED})`, () => {
  it(`arrive whole and in order although the worker is killed ${KILLS} times`, async () => {
    const outcome = await killDeliveries({ seed: SEED, kills: KILLS });
    console.info(JSON.stringify(outcome));
    expect(outcome.changes).toBeGreaterThan(KILLS * 25);
    // Otherwise the kills missed the moments that matter.
    expect(outcome.repeatedAfterKill).toBeGreaterThan(0);
    expect(Object.keys(outcome.conducts)).toHaveLength(9);
    expect(outcome.types['removals.held']).toBeGreaterThan(0);
  });
});
