import { pickIndex, type Random } from '../../../src/simulator/churn.ts';
import type { Row } from '../../support/database.ts';
import { makeLeague } from '../../support/leagues.ts';
import { listLeagues, type Reply } from '../../support/service.ts';
import { shuffleItems } from '../../support/shuffle.ts';

const LEAGUES = 300;
/** At most what the removal guard lets pass. */
const MOST_REMOVED = 5;
const SPORTS = ['soccer', 'chess', 'tennis', 'curling'];
/** Elements that cannot be stored, and drift: few kinds, since each one is stored forever. */
const BAD: readonly unknown[] = [
  '"not a league"',
  makeLeague('no-name', { league_name: null }),
  makeLeague('no-priority', { priority: 'high' }),
  makeLeague('l1', { league_name: 'another one of the same name' }),
];
const ODD: readonly Row[] = [
  makeLeague('new-field', { broadcast_partner: 'Example TV' }),
  makeLeague('number-for-text', { sport_db_id: 4391 }),
  makeLeague('no-flag', { rankings: 'maybe' }),
];

/** The list of a service on which leagues change, disappear and return at random. Each call returns the next list. */
export function createSoakList(random: Random): () => Reply {
  const listed = new Map<string, Row>();
  const gone = new Map<string, Row>();
  const add = (index: number): void => {
    const league = makeLeague(`l${index}`, { default_markets: { a: [index, 1.5], b: 'x'.repeat(100) } });
    listed.set(`l${index}`, league);
  };
  for (let index = 1; index <= LEAGUES; index += 1) add(index);
  const move = (from: Map<string, Row>, to: Map<string, Row>, most: number): void => {
    for (const [id, league] of shuffleItems([...from], random).slice(0, pickIndex(most + 1, random))) {
      from.delete(id);
      to.set(id, league);
    }
  };
  const change = (): void => {
    for (const [id, league] of shuffleItems([...listed], random).slice(0, 1 + pickIndex(4, random))) {
      const sport = SPORTS[pickIndex(SPORTS.length, random)] ?? 'soccer';
      listed.set(id, { ...league, sport, priority: pickIndex(1_000, random) });
    }
  };
  const some = (items: readonly unknown[]): readonly unknown[] =>
    shuffleItems(items, random).slice(0, 1 + pickIndex(items.length, random));

  return () => {
    if (random() < 0.4) change();
    if (random() < 0.1) move(listed, gone, MOST_REMOVED);
    if (random() < 0.15) move(gone, listed, MOST_REMOVED * 2);
    const all = [...listed.values()];
    const chance = random();
    // More removals than the guard lets pass: held until the next list.
    if (chance < 0.01) return listLeagues([]);
    if (chance < 0.02) return listLeagues(all.slice(0, all.length / 2));
    if (chance < 0.05) return listLeagues([...all, ...some(BAD)]);
    if (chance < 0.08) return listLeagues([...all, ...some(ODD)]);
    if (chance < 0.1) return listLeagues([...all, ...all.slice(0, 3)]);
    return listLeagues(all);
  };
}
