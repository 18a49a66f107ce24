import { describe, expect, it } from 'vitest';
import { lettersOf } from '../../src/observe/page/face.ts';
import { describeSeason, renderBand, renderSeasons, spansOf } from '../../src/observe/page/seasons.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const step = (at: string, status: string | null, season: string | null = null) => ({
  at: `${at}T00:00:00.000Z`,
  status,
  season,
});
const STEPS = [
  step('2025-10-01', 'active', 'regular'),
  step('2026-01-10', 'active', 'playoffs'),
  step('2026-02-10', 'inactive', 'playoffs'),
  step('2026-03-01', 'inactive', 'playoffs'),
  step('2026-04-01', null),
  step('2026-05-01', 'inactive', 'playoffs'),
  step('2026-08-17', 'active', 'preseason'),
  step('2026-09-08', 'active', 'regular'),
];

describe('the seasons of a league', () => {
  it('are the times between changes of status and season, without those in which it was not listed', () => {
    expect(
      spansOf(STEPS, NOW).map(({ from, name, phase }) => [new Date(from).toISOString().slice(0, 10), name, phase]),
    ).toEqual([
      ['2025-10-01', 'regular', 'on'],
      ['2026-01-10', 'playoffs', 'late'],
      ['2026-02-10', 'inactive', 'off'],
      ['2026-05-01', 'inactive', 'off'],
      ['2026-08-17', 'preseason', 'pre'],
      ['2026-09-08', 'regular', 'on'],
    ]);
  });

  it('are drawn over twelve months, with other changes as dots', () => {
    const band = String(renderBand(STEPS, NOW));
    expect(band.match(/<rect class="phase-\w+" x="0\.0"/g)).toEqual(['<rect class="phase-on" x="0.0"']);
    expect(band.match(/<circle/g)).toHaveLength(1);
    expect(band).toContain('2026-03-01: other changes');
  });

  it.each([
    [STEPS, 'regular season since 8 Sep'],
    [STEPS.slice(0, 2), 'playoffs since 10 Jan'],
    [STEPS.slice(0, 1), 'regular season'],
    [STEPS.slice(0, 3), undefined],
    [[step('2026-01-01', 'active')], undefined],
    [[step('2026-01-01', 'active', ' ')], undefined],
  ])('are told only where the service sends one (%#)', (steps, words) => {
    expect(describeSeason(steps, NOW)).toBe(words);
  });

  it('have no part of the home page where the service sends none', () => {
    const top = [{ league_id: 'l1', league_name: 'A', sport: 's', steps: [step('2026-01-01', 'active')] }];
    expect(renderSeasons({ now: [], soon: [], ended: [], top }, NOW)).toBe('');
  });
});

it.each([
  ['NFL', 'NFL'],
  ['English Premier League', 'EPL'],
  ["NCAA Women's Basketball", 'NWB'],
  ['Bundesliga', 'Bu'],
  ['Суперлига', 'Су'],
  ['!', ''],
])('the face of %s has the letters %s', (name, letters) => expect(lettersOf(name)).toBe(letters));

it('a league without a season is in none, and one that comes back has not begun one', () => {
  const without = [step('2025-12-01', 'active'), step('2026-03-01', 'inactive'), step('2026-05-01', 'active')];
  const top = [{ league_id: 'a', league_name: 'A', sport: 'golf', steps: without }];
  expect(renderSeasons({ now: [], soon: [], ended: [], top }, NOW)).toBe('');
  expect(spansOf(without, NOW).map(({ name, phase }) => [name, phase])).toEqual([['inactive', 'off']]);
  const back = [
    step('2025-12-01', 'active', 'regular'),
    step('2026-03-01', null),
    step('2026-05-01', 'active', 'regular'),
  ];
  expect(describeSeason(back, NOW)).toBe('regular season');
});
