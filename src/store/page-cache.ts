import type Database from 'better-sqlite3';

/** The page cache of the writing connection, which a large transaction needs more of. */
export type PageCache = {
  /** Makes room for a transaction that writes so many leagues, and for each a change. */
  readonly widen: (leagues: number) => void;
  /** Gives back what `widen` took. For after the transaction, however it ended. */
  readonly restore: () => void;
};

/** With fewer, the usual cache is enough. */
const MANY_LEAGUES = 8_000;
/** A league, what the feed says of it, and their places in the indexes. */
const KIB_EACH = 2;
const MOST_KIB = 512 * 1024;

/**
 * Pages that do not fit go to the WAL in the midst of the transaction, one by one, and a first poll of 100,000 leagues
 * then takes a third longer.
 */
export function createPageCache(client: Database.Database): PageCache {
  const usual = Number(client.pragma('cache_size', { simple: true }));
  let isWide = false;
  return {
    widen: (leagues) => {
      if (leagues < MANY_LEAGUES) return;
      isWide = true;
      client.pragma(`cache_size = -${Math.min(leagues * KIB_EACH, MOST_KIB)}`);
    },
    restore: () => {
      if (!isWide) return;
      isWide = false;
      try {
        client.pragma(`cache_size = ${usual}`);
        client.pragma('shrink_memory');
      } catch {
        // The end of the transaction is what counts.
      }
    },
  };
}
