/** A number from 0 to below 1, another at every call. */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32), so that a rehearsal can be repeated. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from 0 to below `limit`. */
export function pickIndex(limit: number, random: Random): number {
  return Math.floor(random() * limit);
}

/** The same items in an order of chance. */
export function shuffleItems<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
