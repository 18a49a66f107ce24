import { it } from 'vitest';
import { unlessAll } from '../../support/extent.ts';
import { runAndShrink } from './shrink.ts';

/** The worlds after those of `npm test`. */
const FIRST = 29;
const WORLDS = unlessAll(170, 2_000);

it('loses nothing in many more worlds either', { timeout: 0 }, async () => {
  for (let seed = FIRST; seed < FIRST + WORLDS; seed += 1) await runAndShrink(seed);
});
