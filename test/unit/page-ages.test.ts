import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { SCRIPT } from '../../src/observe/page/files.ts';
import { formatRelative } from '../../src/observe/page/html.ts';
import { DAY, SECOND } from '../support/durations.ts';

/** The part of the browser's script that formats ages. */
const AGES = /const UNITS = .*?\n}\n/s.exec(SCRIPT)?.[0] ?? '';
const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const HOURS = [7_199_999, 7_200_000, 2 * DAY - 1, 2 * DAY, 400 * DAY];
const AGES_MS = [0, 1, 999, 1_000, 1_001, 59_999, 119_999, 120_000, ...HOURS];
const FORMS = ['ago', 'old', 'for', 'until', 'due'] as const;

describe('an age', () => {
  it.each(FORMS)('reads the same in the browser and from the worker (%s)', (form) => {
    const browser = createContext({});
    runInContext(AGES, browser);
    const distances = form === 'until' || form === 'due' ? AGES_MS.flatMap((ms) => [ms, -ms]) : AGES_MS;
    const inBrowser = distances.map((ms) => [ms, runInContext(`formatRelative('${form}', ${ms})`, browser)]);
    expect(inBrowser).toEqual(distances.map((ms) => [ms, formatRelative(form, NOW - ms, NOW)]));
  });

  it.each([
    ['ago', 82 * SECOND, '82 s ago'],
    ['ago', 0, 'just now'],
    ['old', 82 * SECOND, '82 s old'],
    ['for', 82 * SECOND, '82 s'],
    ['until', -82 * SECOND, 'in 82 s'],
    ['until', 0, 'now'],
    ['until', 82 * SECOND, 'now'],
    ['due', -82 * SECOND, 'in 82 s'],
    ['due', 82 * SECOND, 'due now'],
  ] as const)('%s, %i ms ago, reads %s', (form, ms, words) => {
    expect(formatRelative(form, NOW - ms, NOW)).toBe(words);
  });

  it('noted by a clock that was ahead shows the time of day', () => {
    expect(formatRelative('ago', NOW + 3_600 * SECOND, NOW)).toBe('13:00:00 UTC');
    expect(formatRelative('ago', NOW + DAY, NOW)).toBe('2026-11-21 12:00:00 UTC');
  });
});
