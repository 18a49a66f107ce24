import { describe, expect, it } from 'vitest';
import { formatShare, renderShares } from '../../src/observe/page/fresh-days.ts';
import { DAY, HOUR, MINUTE } from '../support/durations.ts';

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
  return [...page.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name, share]) => `${name}: ${share}`);
}

describe('the shares of fresh time', () => {
  it.each<[number, readonly string[]]>([
    [0, []],
    [59 * MINUTE, []],
    [5 * HOUR, ['last 5 h: 99.9%']],
    [DAY, ['last 24 h: 99.9%']],
    [2 * DAY, ['last 24 h: 99.9%', 'last 7 d: 99.9%']],
    [9 * DAY, ['last 24 h: 99.9%', 'last 7 d: 99.9%', 'last 90 d: 99.9%']],
  ])('are named after the time that is known (%i ms), and shown if they tell something', (knownMs, shown) => {
    expect(shownAfter(knownMs)).toEqual(shown);
  });

  it('are 100% only if nothing is missing', () => {
    expect([1, 0.99999, 0.5, 0].map(formatShare)).toEqual(['100%', '99.9%', '50.0%', '0.0%']);
  });
});
