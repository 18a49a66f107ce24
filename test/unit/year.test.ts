import { describe, expect, it } from 'vitest';
import { renderYear } from '../../src/observe/page/year.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const NONE = { added: 0, changed: 0, removed: 0, restored: 0 };
const LINKS = { chosen: '2026-11-20', pathTo: (day: string) => `changes?day=${day}&sport=golf` };

describe('the year of changes', () => {
  it('names each month above the week in which it begins, none above the first', () => {
    const page = String(renderYear([], NOW, LINKS));
    const names = [...page.matchAll(/<text x="(\d+)" y="10">(\w+)<\/text>/g)].map(([, x, name]) => [Number(x), name]);
    expect(names.map(([, name]) => name).join(' ')).toBe('Dec Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov');
    expect(Math.min(...names.map(([x]) => Number(x)))).toBeGreaterThan(30);
  });

  it('has a cell for each day from a Sunday on, the last of them today, and links those with changes', () => {
    const days = [
      { ...NONE, day: '2025-11-16', added: 2 },
      { ...NONE, day: '2026-11-20', added: 1, changed: 1 },
    ];
    const page = String(renderYear(days, NOW, LINKS));
    expect(page.match(/M\d+ \d+h/g)).toHaveLength(370 - 2);
    const cells = [...page.matchAll(/<a href="([^"]*)"[^>]*><title>([^<]*)<\/title><rect class="heat-2" x="(\d+)"/g)];
    expect(cells.map(([, href, title, x]) => [href, title, Number(x)])).toEqual([
      ['changes?day=2025-11-16&amp;sport=golf', '2025-11-16: 2 added', 34],
      ['changes?day=2026-11-20&amp;sport=golf', '2026-11-20: 2 changes: 1 added, 1 changed', 34 + 52 * 21],
    ]);
    expect(page.match(/aria-current="date"/g)).toHaveLength(1);
  });
});
