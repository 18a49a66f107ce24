import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideRemovals, type RemovalRules } from '../../src/sync/removal-guard.ts';
import { parseElements, RUNS } from '../support/league-lists.ts';
import { makeLeague } from '../support/leagues.ts';

const RULES: RemovalRules = { limit: 0.2, accepted: new Set(), joined: () => new Set() };

const ids = (count: number, from = 0): readonly string[] =>
  Array.from({ length: count }, (_, index) => `l${String(from + index).padStart(3, '0')}`);
const elements = (leagueIds: readonly string[]) => leagueIds.map((league_id) => makeLeague(league_id));

/** Decides on a list from which the first `missing` of `live` leagues are missing. */
async function decide(live: number, missing: number, rules: Partial<RemovalRules> = {}) {
  const list = await parseElements(elements(ids(live - missing, missing)));
  return decideRemovals(ids(live), list, { ...RULES, ...rules });
}

describe('the guard', () => {
  it('takes no share of leagues that joined since it began to hold', async () => {
    const joined = () => new Set(ids(30, 6));
    expect(await decide(36, 6)).toEqual({ removed: ids(6), held: [] });
    expect(await decide(36, 6, { joined })).toEqual({ removed: [], held: ids(6) });
    expect(await decide(36, 5, { joined })).toEqual({ removed: ids(5), held: [] });
  });

  it.each<[number, number, number, 'removed' | 'held']>([
    [10, 0.2, 5, 'removed'],
    [10, 0.2, 6, 'held'],
    [100, 0.2, 20, 'removed'],
    [100, 0.2, 21, 'held'],
    [100, 0, 5, 'removed'],
    [100, 0, 6, 'held'],
    [100, 1, 99, 'removed'],
    [100, 0.29, 29, 'removed'],
    [100, 0.29, 30, 'held'],
  ])('with %d live leagues and a limit of %d has %d missing ones %s', async (live, limit, missing, fate) => {
    const gone = ids(missing);
    expect(await decide(live, missing, { limit })).toEqual({ removed: [], held: [], [fate]: gone });
  });

  it.each([[1], [5], [6], [100]])('holds all when the list is empty while %d leagues are live', async (live) => {
    expect(await decide(live, live, { limit: 1 })).toEqual({ removed: [], held: ids(live) });
  });

  it('counts accepted removals towards nothing', async () => {
    expect(await decide(20, 13, { accepted: new Set(ids(8)) })).toEqual({ removed: ids(13), held: [] });
    expect(await decide(40, 16, { accepted: new Set(ids(10)) })).toEqual({ removed: ids(16), held: [] });
    expect(await decide(39, 16, { accepted: new Set(ids(10)) })).toEqual({ removed: ids(10), held: ids(6, 10) });
  });

  it('removes no league that a filtered list has with another status', async () => {
    const sent = [...elements(ids(9)), makeLeague('l009', { status: 'inactive' })];
    expect(decideRemovals(ids(10), await parseElements(sent, 'active'), RULES)).toEqual({ removed: [], held: [] });
  });
});

describe('a list that is not complete', () => {
  it('for an element whose id cannot be read holds every removal that is not accepted', async () => {
    const list = await parseElements([...elements(ids(9, 1)), null]);
    const rules = { ...RULES, accepted: new Set(ids(1)) };
    expect(decideRemovals(ids(11), list, rules)).toEqual({ removed: ids(1), held: ids(1, 10) });
  });

  it('is one with a rejected element whose id is known in nothing but that league, which is not missing', async () => {
    const list = await parseElements([...elements(ids(8, 2)), makeLeague('l000', { sport: null })]);
    expect(decideRemovals(ids(10), list, RULES)).toEqual({ removed: ['l001'], held: [] });
  });
});

it('removals are exactly the live leagues that are missing, each either removed or held', async () => {
  const some = fc.subarray([...ids(12)]);
  await fc.assert(
    fc.asyncProperty(some, some, some, async (live, listed, accepted) => {
      const { removed, held } = decideRemovals(live, await parseElements(elements(listed)), {
        ...RULES,
        accepted: new Set(accepted),
      });
      expect([...removed, ...held].sort()).toEqual(live.filter((id) => !listed.includes(id)).sort());
      expect(held.filter((id) => accepted.includes(id))).toEqual([]);
    }),
    RUNS,
  );
});
