import { expect, it } from 'vitest';
import { retryWaitMs } from '../../src/webhook/retry-schedule.ts';
import { HOUR, MINUTE } from '../support/durations.ts';

it('waits 5 s, 5 min, 30 min, 2 h, 5 h, then always 10 h, and up to a tenth longer', () => {
  const waits = [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR, 10 * HOUR];
  expect(waits.map((_, index) => retryWaitMs(index + 1, 0))).toEqual(waits);
  expect(waits.map((_, index) => retryWaitMs(index + 1, 1))).toEqual(waits.map((wait) => wait * 1.1));
  expect(retryWaitMs(1_000, 0)).toBe(10 * HOUR);
});
