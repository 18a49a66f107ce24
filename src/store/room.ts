import type Database from 'better-sqlite3';

/**
 * Memory for the pages that one transaction writes to. What does not fit goes to the log in the middle of it, page by
 * page, and a first poll of 100,000 leagues then takes a third longer.
 */
export type Room = {
  /** Makes room for the transaction that is under way, which writes so many leagues. */
  readonly makeFor: (leagues: number) => void;
  /** Gives the memory back after it. */
  readonly giveBack: () => void;
};

/** For fewer, the usual room is enough. */
const MANY_LEAGUES = 8_000;
/** A league, what the feed says of it, and their places in the indexes. */
const KIB_EACH = 2;
const MOST_KIB = 512 * 1024;

export function createRoom(client: Database.Database): Room {
  const usual = Number(client.pragma('cache_size', { simple: true }));
  let isWide = false;
  return {
    makeFor: (leagues) => {
      if (leagues < MANY_LEAGUES) return;
      isWide = true;
      client.pragma(`cache_size = -${Math.min(leagues * KIB_EACH, MOST_KIB)}`);
    },
    giveBack: () => {
      if (!isWide) return;
      isWide = false;
      try {
        client.pragma(`cache_size = ${usual}`);
        client.pragma('shrink_memory');
      } catch {
        // It comes after the transaction, whose end is what counts.
      }
    },
  };
}
