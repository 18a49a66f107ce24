import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type AgeForm, wordAge } from '../../src/observe/page/html.ts';
import { AGES } from '../../src/observe/page/script.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const SECOND = 1_000;
const DAY = 86_400 * SECOND;
const DISTANCES = [
  0,
  1,
  999,
  1_000,
  1_001,
  59_999,
  119_999,
  120_000,
  7_199_999,
  7_200_000,
  2 * DAY - 1,
  2 * DAY,
  400 * DAY,
];
const FORMS: readonly AgeForm[] = ['ago', 'old', 'until'];

const browser = createContext({});
runInContext(AGES, browser);
const inBrowser: typeof wordAge = (form, at, now) => runInContext(`wordAge('${form}', ${at}, ${now})`, browser);

describe('an age', () => {
  it.each(FORMS)('is worded by the open page as it was by the worker (%s)', (form) => {
    for (const distance of DISTANCES.flatMap((ms) => [ms, -ms]))
      expect([distance, inBrowser(form, NOW - distance, NOW)]).toEqual([distance, wordAge(form, NOW - distance, NOW)]);
  });

  it.each<readonly [AgeForm, number, string]>([
    ['ago', 82 * SECOND, '82 s ago'],
    ['ago', 0, 'just now'],
    ['old', 82 * SECOND, '82 s old'],
    ['until', -82 * SECOND, 'in 82 s'],
    ['until', 0, 'now'],
    ['until', 82 * SECOND, 'now'],
  ])('that is %s by %i ms is told as %s', (form, ms, words) => {
    expect(wordAge(form, NOW - ms, NOW)).toBe(words);
  });

  it('of what a clock that was ahead has noted is no time to come', () => {
    expect(wordAge('ago', NOW + 3_600 * SECOND, NOW)).toBe('13:00:00 UTC');
    expect(wordAge('ago', NOW + DAY, NOW)).toBe('2026-11-21 12:00:00 UTC');
  });
});
