import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unlessAll } from '../../support/extent.ts';
import { DATABASE_OF_0_1_0 } from '../../support/version-0.1.0.ts';
import { killDeliveries } from './kill.ts';

const SEED = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
const KILLS = unlessAll(100, 200);
const UPGRADES = 12;

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

  it('begin behind the last change if the upgrade from a version without webhooks is killed, too', async () => {
    const prepare = (database: string): void => {
      mkdirSync(dirname(database));
      copyFileSync(DATABASE_OF_0_1_0, database);
    };
    const outcome = await killDeliveries({ seed: SEED + 1, kills: UPGRADES, prepare });
    console.info(JSON.stringify(outcome));
    expect(outcome.changes).toBeGreaterThan(300);
  });
});
