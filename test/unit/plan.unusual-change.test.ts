import { expect, it } from 'vitest';
import { findUnusualChange } from '../../src/sync/plan.ts';

const changes = (count: number, ...fields: readonly string[]) =>
  Array.from({ length: count }, () => ({
    before: JSON.stringify(Object.fromEntries(fields.map((name) => [name, 1]))),
  }));

it.each([
  [6, 29, 6],
  [6, 30, undefined],
  [5, 5, undefined],
])('a field that differs in %d of %d live leagues is unusual: %s', (changed, live, count) => {
  const found = count === undefined ? null : JSON.stringify([{ field: 'sport', count }]);
  expect(findUnusualChange(changes(changed, 'sport'), live, [])).toBe(found);
});

it('counts each field alone, without those that often change and quiet ones', () => {
  const changed = [...changes(8, 'sport', 'city', 'extra', 'last_update_datetime'), ...changes(9, 'state')];
  expect(findUnusualChange(changed, 40, ['city'])).toBe('[{"field":"state","count":9}]');
  expect(findUnusualChange(changed, 39, ['city'])).toBe('[{"field":"sport","count":8},{"field":"state","count":9}]');
});
