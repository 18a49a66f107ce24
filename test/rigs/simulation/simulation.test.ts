import { expect, it } from 'vitest';
import { runWorld } from './world.ts';

/** See README.md. */
const { SEED, WORLDS = '3', FIRST = '1' } = process.env;

if (SEED === undefined) {
  it('loses nothing under any mix of faults, and is well once they are over', { timeout: 3_600_000 }, async () => {
    for (let seed = Number(FIRST); seed < Number(FIRST) + Number(WORLDS); seed += 1) await runWorld(seed);
  });

  it('a seed determines everything', async () => {
    expect(await runWorld(1)).toEqual(await runWorld(1));
  });
} else
  it(`the world of seed ${SEED}`, async () => {
    for (const line of await runWorld(Number(SEED))) console.log(line);
  });
