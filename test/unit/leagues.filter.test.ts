import { describe, expect, it } from 'vitest';
import { type Choice, pathTo, renderLeagues } from '../../src/observe/page/leagues.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const SPORTS = Array.from({ length: 20 }, (_, index) => ({ name: `sport ${index}`, leagues: 20 - index }));
const FACETS = { sports: SPORTS, statuses: [{ name: 'active', leagues: 210 }] };

const render = (choice: Partial<Choice>, total = 0, page = 1, facets = FACETS): string =>
  String(
    renderLeagues({ choice: { sort: 'name', ...choice }, facets, held: 0, listing: { total, page, leagues: [] } }, NOW),
  );
const sportsIn = (page: string): string => /<nav aria-label="Sports">.*?<\/nav>/s.exec(page)?.[0] ?? '';

describe('the choices of the list of leagues', () => {
  it.each(['sport 2', 'sport 19', 'a sport that no league has any more'])(
    'show the chosen sport (%s) at once',
    (sport) => {
      const [atOnce = '', folded = ''] = sportsIn(render({ sport })).split('<details>');
      expect(atOnce).toMatch(new RegExp(`aria-current="true"><bdi>${sport}</bdi>`));
      expect(folded).not.toContain('aria-current');
    },
  );

  it('fold what is beyond the first twelve sports', () => {
    const [atOnce = '', folded = ''] = sportsIn(render({})).split('<details>');
    expect(atOnce.match(/sport=/g)).toHaveLength(12);
    expect(folded).toContain('<summary>8 more</summary>');
    expect(folded.match(/sport=/g)).toHaveLength(8);
  });

  it('give no numbers of sports that were not counted', () => {
    const sports = Array.from({ length: 100 }, (_, index) => ({ name: `sport ${index}`, leagues: 200 - index }));
    const shown = sportsIn(render({ sport: 'sport 101' }, 0, 1, { ...FACETS, sports }));
    expect(shown).toContain('<summary>more</summary>');
    expect(shown).toContain('aria-current="true"><bdi>sport 101</bdi></a>');
  });

  it('are kept by the search, and the search by the choices', () => {
    const page = render({ search: 'x y', sport: 'sport 1', status: 'active', sort: 'changed' });
    for (const field of ['sport" value="sport 1', 'status" value="active', 'sort" value="changed'])
      expect(page).toContain(`<input type="hidden" name="${field}">`);
    expect(page).toContain('name="q" value="x y"');
    expect(sportsIn(page)).toContain('leagues?q=x+y&amp;sport=sport+2&amp;status=active&amp;sort=changed');
  });

  it('are in an address that leaves out what is usual', () => {
    expect(pathTo({ sort: 'name' })).toBe('leagues');
    expect(pathTo({ search: 'é&', status: 'held', sort: 'priority' }, 3)).toBe(
      'leagues?q=%C3%A9%26&status=held&sort=priority&page=3',
    );
  });
});
