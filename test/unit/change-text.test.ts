import { describe, expect, it } from 'vitest';
import { type ChangeRow, formatChanges } from '../../src/commands/change-text.ts';
import { parseJson } from '../../src/league/json.ts';
import { createPaint, PLAIN } from '../../src/terminal/style.ts';
import { widthOf } from '../../src/terminal/text.ts';

const CHANGED = { text: '~', tone: 'warning' } as const;

const rows: readonly ChangeRow[] = [
  {
    lead: ['933', '4 h ago'],
    mark: CHANGED,
    name: 'Belgian Pro League',
    fields: [{ field: 'status', old: 'active', now: 'inactive' }],
  },
  { lead: ['1000', '35 min ago'], mark: { text: '−', tone: 'bad' }, name: 'UFL', fields: [] },
  {
    lead: ['1001', 'just now'],
    mark: CHANGED,
    name: 'HockeyAllsvenskan presented by Example',
    fields: [
      { field: 'rankings', old: false, now: true },
      { field: 'active_season_type', old: null, now: 'playoffs' },
    ],
  },
];

function linesAt(columns: number, more: readonly ChangeRow[] = rows): readonly string[] {
  return formatChanges(more, { ...PLAIN, columns });
}

describe('changes at a terminal', () => {
  it('are aligned, one line per field, with the name truncated', () => {
    expect(linesAt(80)).toEqual([
      '933   4 h ago     ~ Belgian Pro League  status              active → inactive',
      '1000  35 min ago  − UFL',
      '1001  just now    ~ HockeyAllsvenskan…  rankings            false → true',
      '                                        active_season_type  null → playoffs',
    ]);
    expect(linesAt(120)[2]).toContain('~ HockeyAllsvenskan presented…  rankings            false → true');
  });

  it('have their fields below the name if there is no room beside it', () => {
    expect(linesAt(60)).toEqual([
      '933   4 h ago     ~ Belgian Pro League',
      '      status  active → inactive',
      '1000  35 min ago  − UFL',
      '1001  just now    ~ HockeyAllsvenskan presented by Example',
      '      rankings  false → true',
      '      active_season_type  null → playoffs',
    ]);
    expect(linesAt(40)).toEqual([
      '933   4 h ago     ~ Belgian Pro League',
      '      status  active → inactive',
      '1000  35 min ago  − UFL',
      '1001  just now    ~ HockeyAllsvenskan p…',
      '      rankings  false → true',
      '      active_season_type  null → playof…',
    ]);
  });

  it.each([40, 60, 80, 120, 200])(
    'of %i characters fit, and show every field with both values, however long',
    (columns) => {
      const long: ChangeRow = {
        lead: ['123456', '119 min ago'],
        mark: CHANGED,
        name: '日本の'.repeat(30),
        fields: ['last_update_datetime', 'league_name', 'extra'].map((field) => ({
          field,
          old: 'o'.repeat(99),
          now: 'n'.repeat(9_999),
        })),
      };
      const lines = linesAt(columns, [...rows, long]);
      expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
      for (const field of ['league_name', 'extra'])
        expect(lines.filter((line) => new RegExp(`${field} +o+… → n+…$`).test(line))).toHaveLength(1);
    },
  );

  it.each([
    ['', '""'],
    ['null', '"null"'],
    [null, 'null'],
    [' x', '" x"'],
    ['a → b', '"a → b"'],
    ['plain', 'plain'],
    ['\u001b[31mred', '\\u001b[31mred'],
    [12, '12'],
    [true, 'true'],
    [parseJson('12345678901234567890.5'), '12345678901234567890.5'],
    [{ a: ['b'] }, '{"a":["b"]}'],
  ])('show the value %s as %s', (now, shown) => {
    const row = { lead: [], mark: CHANGED, name: 'L', fields: [{ field: 'city', old: 'x', now }] };
    expect(linesAt(80, [row])).toEqual([`~ L  city  x → ${shown}`]);
  });

  it('escape control characters of names', () => {
    const row = { lead: [], mark: CHANGED, name: 'a\u001b[2J', fields: [] };
    expect(linesAt(80, [row])).toEqual(['~ a\\u001b[2J']);
  });

  it('have the old value dim and the new one plain', () => {
    const row = { lead: [], mark: CHANGED, name: 'L', fields: [{ field: 'city', old: 'x', now: 'y' }] };
    expect(formatChanges([row], { ...PLAIN, paint: createPaint(true) })).toEqual([
      '\u001b[33m~\u001b[39m L  city  \u001b[2mx → \u001b[22my',
    ]);
  });
});
