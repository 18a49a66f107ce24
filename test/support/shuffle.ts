import type { Random } from '../../src/simulator/churn.ts';

export function shuffleItems<Item>(items: readonly Item[], random: Random): Item[] {
  const ranked = items.map((item) => ({ item, rank: random() }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ item }) => item);
}
