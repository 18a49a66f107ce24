import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/json.ts';
import { TEXT_HASH_PLACE } from '../../src/league-hash.ts';
import { type KnownLeague, parseLeagues } from '../../src/service/league.ts';
import type { Elements } from '../../src/service/listing.ts';
import { atOnce } from '../../src/stretches.ts';
import { createElement, listingOf, parseElements, VERSION } from '../support/unit-league.ts';

const formIn = (hash: string) => hash.slice(TEXT_HASH_PLACE.from, TEXT_HASH_PLACE.from + TEXT_HASH_PLACE.length);

/** What would be known of these once they had been stored. */
function knownOf(...elements: readonly JsonValue[]): ReadonlyMap<string, KnownLeague> {
  const { leagues } = parseElements(elements);
  return new Map([...leagues.values()].map((league) => [formIn(league.hash), league]));
}

/** Parses the list, and tells which of its elements were read. */
function parseAndWatch(elements: readonly JsonValue[], known: ReadonlyMap<string, KnownLeague>) {
  const listing = listingOf(JSON.stringify({ leagues: elements }));
  const read: number[] = [];
  const watched: Elements = {
    length: elements.length,
    textHashOf: (position) => listing.elements?.textHashOf(position) ?? '',
    holds: (position, text) => listing.elements?.holds(position, text) ?? false,
    read: (position) => {
      read.push(position);
      if (listing.elements === undefined) throw new Error('There is no list.');
      return listing.elements.read(position);
    },
  };
  const list = atOnce(
    parseLeagues({ ...listing, elements: watched }, { scope: 'all', programVersion: VERSION, known }),
  );
  return { list, read };
}

const one = createElement({ league_id: 'one' });
const two = createElement({ league_id: 'two' });
const three = createElement({ league_id: 'three' });

describe('a league that is stored', () => {
  it('is not read where it comes in the same text', () => {
    const { list, read } = parseAndWatch([two, one], knownOf(one, two));
    expect(read).toEqual([]);
    expect([...list.leagues.keys()]).toEqual(['two', 'one']);
    expect(list).toMatchObject({ received: 2, rejections: [], duplicates: 0 });
  });

  it('can be read all the same', () => {
    const { list } = parseAndWatch([one], knownOf(one));
    const league = parseElements([one]).leagues.get('one');
    expect(list.leagues.get('one')?.league()).toEqual(league?.league());
    expect(list.leagues.get('one')?.json()).toEqual(league?.json());
  });

  it('is read where one character of it differs', () => {
    const { list, read } = parseAndWatch([one, { ...two, priority: 2 }], knownOf(one, two));
    expect(read).toEqual([1]);
    expect(list.leagues.get('two')?.league().priority).toBe(2);
  });

  it('counts as a duplicate where it is sent twice, in whatever order its keys come', () => {
    const turned = Object.fromEntries(Object.entries(one).reverse());
    expect(parseAndWatch([one, one, turned], knownOf(one)).list).toMatchObject({ duplicates: 2, rejections: [] });
  });

  it('contradicts another version of itself, and is kept as it was sent', () => {
    const { list } = parseAndWatch([one, two, { ...one, priority: 2 }, three], knownOf(one, two, three));
    expect([...list.leagues.keys()]).toEqual(['two', 'three']);
    expect(list.rejections.map(({ position, raw }) => [position, JSON.parse(raw).priority])).toEqual([
      [0, 1],
      [2, 2],
    ]);
  });

  it('is noted where it has another status than was asked for', () => {
    const known = knownOf(createElement({ status: 'inactive' }));
    const { drift } = parseElements([createElement({ status: 'inactive' })], 'active', known);
    expect(drift).toMatchObject([{ field: 'leagues[].status', kind: 'unexpected-value' }]);
  });
});
