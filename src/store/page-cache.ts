import type Database from 'better-sqlite3';

/** With fewer leagues, the usual cache is enough. */
const MANY_LEAGUES = 8_000;
/** A league, its change, and their places in the indexes. */
const KIB_EACH = 2;
const MOST_KIB = 512 * 1024;

/**
 * Makes room in the page cache for a transaction that writes so many leagues, and gives it back afterwards. Pages
 * that do not fit go to the WAL one by one: a first load of 100,000 leagues takes 3.2 s instead of 2.5 s.
 */
export function createPageCache(client: Database.Database) {
  const usual = Number(client.pragma('cache_size', { simple: true }));
  let isWide = false;
  return {
    widen: (leagues: number): void => {
      if (leagues < MANY_LEAGUES) return;
      isWide = true;
      client.pragma(`cache_size = -${Math.min(leagues * KIB_EACH, MOST_KIB)}`);
    },
    /** For after the transaction, however it ended. */
    restore: (): void => {
      if (!isWide) return;
      isWide = false;
      try {
        client.pragma(`cache_size = ${usual}`);
        client.pragma('shrink_memory');
      } catch {
        // What counts is how the transaction ended.
      }
    },
  };
}
