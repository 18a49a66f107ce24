import { expect, it } from 'vitest';
import { runAndShrink } from './shrink.ts';
import { runWorld } from './world.ts';

/** See README.md. */
const { SEED, WORLDS = '28', FIRST = '1' } = process.env;
/** Worlds that found a fault of the program, always lived. Seeds mean other worlds once the rig draws otherwise. */
const SEEDS_KEPT = [400_342, 603_659];
/** How often an endless run says how far it is. */
const TOLD_EVERY = 50;

if (SEED === undefined) {
  it('loses nothing under any mix of faults, and is well once they are over', { timeout: 0 }, async () => {
    for (const seed of SEEDS_KEPT) await runAndShrink(seed);
    for (let seed = Number(FIRST); seed < Number(FIRST) + Number(WORLDS); seed += 1) {
      await runAndShrink(seed);
      if (seed % TOLD_EVERY === 0) console.log(`the worlds up to seed ${seed} are well`);
    }
  });

  it('a seed determines everything', { timeout: 300_000 }, async () => {
    expect(await runWorld(1)).toEqual(await runWorld(1));
  });
} else
  it(`the world of seed ${SEED}`, { timeout: 0 }, async () => {
    for (const line of await runWorld(Number(SEED))) console.log(line);
  });
