import { describe, expect, it } from 'vitest';
import { formatShare, renderShares, renderYear } from '../../src/observe/page/calendar.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The names and shares that the page shows if so much time is known. */
function shownAfter(knownMs: number): readonly string[] {
  const shares = [
    ['24 h', DAY],
    ['7 d', 7 * DAY],
    ['90 d', 90 * DAY],
  ] as const;
  const known = shares.map(([name, most]) => {
    const ms = Math.min(knownMs, most);
    return { name, share: ms === 0 ? undefined : 0.9995, knownMs: ms };
  });
  const page = String(renderShares(known));
  return [...page.matchAll(/<dt>(.*?)<\/dt><dd>(.*?) <small>/g)].map(([, name, share]) => `${name}: ${share}`);
}

describe('the shares of fresh time', () => {
  it.each<[number, readonly string[]]>([
    [0, []],
    [3 * MINUTE, ['fresh 3 min: 99.9']],
    [5 * HOUR, ['fresh 5 h: 99.9']],
    [DAY, ['fresh 24 h: 99.9']],
    [2 * DAY, ['fresh 24 h: 99.9', 'fresh 7 d: 99.9']],
    [9 * DAY, ['fresh 24 h: 99.9', 'fresh 7 d: 99.9', 'fresh 90 d: 99.9']],
  ])('are named after the time that is known (%i ms), and shown if they tell something', (knownMs, shown) => {
    expect(shownAfter(knownMs)).toEqual(shown);
  });

  it('are 100 % only if nothing is missing', () => {
    expect([1, 0.99999, 0.5, 0].map(formatShare)).toEqual(['100 %', '99.9 %', '50.0 %', '0.0 %']);
  });
});

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

describe('the year of changes', () => {
  it('names each month above the week in which it begins, none above the first', () => {
    const page = String(renderYear([], NOW));
    const names = [...page.matchAll(/<text x="(\d+)" y="11">(\w+)<\/text>/g)].map(([, x, name]) => [Number(x), name]);
    expect(names.map(([, name]) => name).join(' ')).toBe('Dec Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov');
    expect(Math.min(...names.map(([x]) => Number(x)))).toBeGreaterThan(30);
  });

  it('has a square for each day from a Sunday on, the last of them today', () => {
    const page = String(renderYear([], NOW));
    const days = [...page.matchAll(/<title>([\d-]+): no changes<\/title>/g)].map(([, day]) => day);
    expect(days[0]).toBe('2025-11-16');
    expect(days.at(-1)).toBe('2026-11-20');
    expect(days).toHaveLength(370);
  });
});
