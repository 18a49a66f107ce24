import { expect, it } from 'vitest';
import { renderLeagues } from '../../src/observe/page/leagues.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

it('the form of the list keeps the chosen sport, even one that no league has any more', () => {
  const facets = { sports: [{ name: 'soccer', leagues: 3 }], statuses: [{ name: 'active', leagues: 3 }] };
  const listing = { total: 0, page: 1, leagues: [] };
  const formFor = (sport: string): string => {
    const page = String(renderLeagues({ filter: { sport }, facets, listing }, NOW));
    return /<select name="sport">.*?<\/select>/.exec(page)?.[0] ?? '';
  };
  const soccer = '<option value="soccer">soccer</option>';
  expect(formFor('chess')).toBe(
    `<select name="sport"><option value="">any</option><option value="chess" selected>chess</option>${soccer}</select>`,
  );
  expect(formFor('soccer')).toBe(
    '<select name="sport"><option value="">any</option><option value="soccer" selected>soccer</option></select>',
  );
});
