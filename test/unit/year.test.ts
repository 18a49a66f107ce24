import { describe, expect, it } from 'vitest';
import { renderYear } from '../../src/observe/page/year.ts';

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
