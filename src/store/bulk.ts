import type Database from 'better-sqlite3';

/** Fewer leagues are written in the usual way, and read by the thread that writes them. */
export const MANY_LEAGUES = 8_000;

/** How a transaction writes many leagues at once in less time. */
export type Bulk = {
  /** Does a transaction, and gives back what `load` took for it, however it ends. */
  readonly around: <T>(transaction: () => T) => T;
  /** Does work inside that transaction which writes so many leagues, and for each a change. */
  readonly load: <T>(leagues: number, work: () => T) => T;
};

export function createBulk(client: Database.Database): Bulk {
  const usualRoom = Number(client.pragma('cache_size', { simple: true }));
  const lastSeq = client.prepare<[], number>('SELECT max(seq) FROM league_changes').pluck();
  const othersTriggers = client.prepare(OTHERS_TRIGGERS);
  let isUnderWay = false;
  let hasMoreRoom = false;
  const giveBack = (): void => {
    isUnderWay = false;
    if (!hasMoreRoom) return;
    hasMoreRoom = false;
    try {
      client.pragma(`cache_size = ${usualRoom}`);
      client.pragma('shrink_memory');
    } catch {
      // It comes after the transaction, whose end is what counts.
    }
  };
  return {
    around: (transaction) => {
      isUnderWay = true;
      try {
        return transaction();
      } finally {
        giveBack();
      }
    },
    load: (leagues, work) => {
      if (!isUnderWay) throw new Error('leagues are to be loaded in a transaction');
      if (leagues < MANY_LEAGUES) return work();
      hasMoreRoom = true;
      makeRoom(client, leagues);
      const isWorthIt = (lastSeq.get() ?? 0) <= leagues;
      return isWorthIt && othersTriggers.get() === undefined ? withBareFeed(client, work) : work();
    },
  };
}

/** A league, what the feed says of it, and their places in the indexes. */
const KIB_EACH = 2;
const MOST_KIB = 512 * 1024;

/**
 * Makes room for the pages that are written to. What does not fit goes to the log in the midst of the transaction, page
 * by page, and a first poll of 100,000 leagues then takes a third longer.
 */
function makeRoom(client: Database.Database, leagues: number): void {
  client.pragma(`cache_size = -${Math.min(leagues * KIB_EACH, MOST_KIB)}`);
}

/** A trigger of somebody else's may ask the feed something at each row, and would have to read all of it. */
const OTHERS_TRIGGERS = `SELECT 1 FROM sqlite_schema
  WHERE type = 'trigger' AND tbl_name IN ('leagues', 'league_changes') AND name NOT GLOB 'league_changes_no_*'`;

/** What each new row of the feed pays for; an index that somebody else has put there is theirs, and stays. */
const ON_EACH_ROW = ['league_changes_by_league', 'league_changes_by_time', 'league_changes_no_replace'];

/**
 * Does work while the feed has no indexes, and nothing looks at each of its new rows; both are made again as they were.
 * An index is made in a tenth of the time that it takes to put as many rows into it one by one. Nobody else sees any of
 * it: it is all in one transaction.
 */
function withBareFeed<T>(client: Database.Database, work: () => T): T {
  const parts = client
    .prepare<string[], { type: string; name: string; sql: string }>(
      `SELECT type, name, sql FROM sqlite_schema
       WHERE tbl_name = 'league_changes' AND name IN (${ON_EACH_ROW.map(() => '?').join(', ')})`,
    )
    .all(...ON_EACH_ROW);
  for (const { type, name } of parts) client.exec(`DROP ${type} ${name}`);
  const result = work();
  for (const { sql } of parts) client.exec(sql);
  return result;
}
