import { expect, it } from 'vitest';
import { isFresh } from '../../src/worker/worker.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const at = (ms: number): string => new Date(NOON + ms).toISOString();

it.each([
  ['seconds after it ended', at(-40_000), at(-29_999), true],
  ['half a minute after it ended', at(-40_000), at(-30_000), false],
  ['seconds after it began, if its end continues from a clock that was ahead', at(-10_000), at(3_600_000), true],
  ['long after it began, if its end continues from a clock that was ahead', at(-30_000), at(3_600_000), false],
  ['after the clock was set back', at(3_590_000), at(3_600_000), false],
])('the last good poll is fresh or not %s', (_, started_at, finished_at, expected) => {
  expect(isFresh({ started_at, finished_at }, NOON)).toBe(expected);
});
