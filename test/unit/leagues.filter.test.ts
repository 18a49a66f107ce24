import { describe, expect, it } from 'vitest';
import { type Choice, renderLeagues } from '../../src/observe/page/leagues.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const SPORTS = Array.from({ length: 20 }, (_, index) => ({ name: `sport ${index}`, leagues: 20 - index, active: 1 }));
const FACETS = { sports: SPORTS, statuses: [{ name: 'active', leagues: 210 }] };

function render(choice: Partial<Choice>, facets = FACETS, removed = 0): string {
  const view = { choice: { sort: 'priority', ...choice }, facets, held: 0, removed } as const;
  const listing = { total: 0, page: 1, leagues: [] };
  return String(renderLeagues({ ...view, listing }, { now: NOW, success: undefined }));
}

describe('the choices of the list of leagues', () => {
  it.each([
    ['sport 2', 'sport 2 (18)'],
    ['a sport that no league has any more', 'a sport that no league has any more'],
  ])('show the chosen sport (%s)', (sport, label) => {
    const chosen = [...render({ sport }).matchAll(/<option value="([^"]*)" selected>([^<]*)/g)];
    expect(chosen.map(([, value, text]) => [value, text])).toEqual([
      [sport, label],
      ['', 'all live'],
    ]);
  });

  it('are all in one form with the search, and keep the order', () => {
    const page = render({ search: 'x y', sport: 'sport 1', status: 'active', sort: 'changed' });
    expect(page).toContain('<input type="hidden" name="sort" value="changed">');
    expect(page).toContain('value="x y"');
    expect(page).toContain('<option value="active" selected>active (210)');
  });

  it('are not there without leagues, of which the page says why there are none', () => {
    const page = render({}, { sports: [], statuses: [] });
    expect(page).not.toContain('<form');
    expect(page).toContain('No leagues yet.');
  });

  it('lead to removed leagues if only those match', () => {
    expect(render({ search: 'golf' }, FACETS, 2)).toContain(
      '<a href="leagues?q=golf&amp;status=removed">2 removed leagues</a>',
    );
  });
});
