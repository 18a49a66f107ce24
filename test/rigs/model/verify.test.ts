import { copyFileSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { verifyFile } from '../../../src/check/verify.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { unlessAll } from '../../support/extent.ts';
import { createRandom } from '../simulation/random.ts';
import type { ModelBench } from './bench.ts';
import { DAMAGES } from './damage.ts';
import { FEW, playHistories, SEED } from './histories.ts';

/** What is wrong with the file; empty if it is whole. */
function faultsOf(path: string): readonly string[] {
  try {
    return [...verifyFile(path)]
      .filter(({ result }) => result === 'fail')
      .map(({ name, message }) => `${name}: ${message}`);
  } catch (error) {
    if (error instanceof DatabaseError) return [error.message];
    throw error;
  }
}

it(`verify finds each damage, and calls no good file bad (TEST_SEED=${SEED})`, { timeout: 600_000 }, async () => {
  const random = createRandom(SEED);
  const kinds = Object.entries(DAMAGES);
  const missed: string[] = [];
  let [good, damaged] = [0, 0];
  const damageCopies = (bench: ModelBench): void => {
    const [copy, victim] = [`${bench.path}.copy`, `${bench.path}.victim`];
    bench.write('VACUUM INTO ?', copy);
    expect(faultsOf(copy)).toEqual([]);
    good += 1;
    for (let tries = 0; tries < kinds.length; tries += 1) {
      const [name, damage] = kinds[(good + tries) % kinds.length] ?? [];
      copyFileSync(copy, victim);
      if (damage === undefined || !damage(victim, random)) continue;
      damaged += 1;
      if (faultsOf(victim).length === 0) missed.push(`${name} (history ${good})`);
      break;
    }
    for (const file of [copy, victim]) rmSync(file, { force: true });
  };
  const wrap = async (bench: ModelBench): Promise<ModelBench> => ({
    ...bench,
    [Symbol.asyncDispose]: async () => {
      damageCopies(bench);
      await bench[Symbol.asyncDispose]();
    },
  });
  const histories = unlessAll(20, 200);
  await playHistories(FEW, histories, SEED, wrap);
  expect({ missed, good, damaged }).toEqual({ missed: [], good: histories, damaged: histories });
});
