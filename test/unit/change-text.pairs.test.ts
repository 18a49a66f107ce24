import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitPair } from '../../src/commands/change-text.ts';
import { widthOf } from '../../src/terminal/text.ts';

describe('two values', () => {
  it.each([
    ['active', 'inactive', 17, ['active', 'inactive']],
    ['active', 'inactive', 16, ['active', 'inacti…']],
    ['inactive', 'active', 16, ['inacti…', 'active']],
    ['null', 'a very long text', 12, ['null', 'a ve…']],
    ['a very long text', 'another long text', 15, ['a ver…', 'anoth…']],
    ['Serie A', 'Serie A of 2026', 20, ['Serie A', 'Serie A o…']],
    ['2026-01-18T20:36', '2026-01-18T21:36', 19, ['…8T20:36', '…8T21:36']],
    ['x'.repeat(90), `${'x'.repeat(90)}y`, 20, ['…xxx', '…xxxy']],
    ['日本語日本語', '日本語', 15, ['日本…', '日本語']],
    ['', '', 10, ['', '']],
  ])('%s and %s at %i are %j', (old, now, width, shown) => {
    expect(fitPair(old, now, width)).toEqual(shown);
  });

  it('that differ look different, and fit', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('a', 'b', '💡') }),
    );
    fc.assert(
      fc.property(text, text, text, fc.integer({ min: 15, max: 60 }), (start, old, now, width) => {
        const [before, after] = fitPair(start + old, start + now, width);
        expect(widthOf(before) + widthOf(after) + 3).toBeLessThanOrEqual(width);
        if (/^[ -~]*$/.test(start + old + now) && !/\s$|^\s/.test(old + now) && old !== now)
          expect(before).not.toBe(after);
      }),
    );
  });

  it('may be of any length', () => {
    const [old, now] = ['x'.repeat(2_000_000), 'y'.repeat(2_000_000)];
    expect(fitPair(old, now, 13)).toEqual(['xxxx…', 'yyyy…']);
    expect(fitPair(`${old}a`, `${old}b`, 13)).toEqual(['…xxxa', '…xxxb']);
    expect(fitPair(old, `${old}💡`, 13)).toEqual(['…xxx', '…xxx💡']);
  });
});
