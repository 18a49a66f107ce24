import { isObject, type JsonObject } from './json.ts';
import { type Random, shuffleItems } from './random.ts';

/** One way in which a list of leagues can go wrong. */
export type ListChange = (leagues: readonly unknown[], random: Random) => readonly unknown[];

// Three in ten: some of each kind even in a short list, and never more than half of it.
const breakages = new Map<number, (league: JsonObject) => unknown>([
  [1, ({ league_name: _, ...rest }) => rest],
  [4, (league) => ({ ...league, league_name: [league.league_name], priority: 'first' })],
  [7, () => 'not a league'],
]);

/** Leaves out every third element. */
export const dropThird: ListChange = (leagues) => leagues.filter((_, index) => index % 3 !== 2);

/** Three elements in ten are broken: one without its name, one with wrong types, one that is no object. */
export const breakRows: ListChange = (leagues) =>
  leagues.map((league, index) => {
    const breakage = breakages.get(index % 10);
    return breakage !== undefined && isObject(league) ? breakage(league) : league;
  });

/** Every league carries a field that the interface does not name. */
export const addField: ListChange = (leagues) =>
  leagues.map((league) => (isObject(league) ? { ...league, broadcast_partner: 'Example TV' } : league));

/** Every tenth element comes twice, and the second league again under another name. */
export const duplicateSome: ListChange = (leagues) => {
  const identical = leagues.filter((_, index) => index % 10 === 0);
  const conflicting = leagues.slice(1, 2).filter(isObject);
  const renamed = conflicting.map((league) => ({ ...league, league_name: `${league.league_name} (again)` }));
  return [...leagues, ...identical, ...renamed];
};

/** Another order of the elements, and of the keys inside each. */
export const shuffleLeagues: ListChange = (leagues, random) =>
  shuffleItems(leagues, random).map((league) =>
    isObject(league) ? Object.fromEntries(shuffleItems(Object.entries(league), random)) : league,
  );
