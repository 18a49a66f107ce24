import { drizzle } from 'drizzle-orm/better-sqlite3';
import { createLeagueRows, type LeagueRows } from './leagues.ts';
import { createOddityRows, type OddityRows } from './oddities.ts';
import { openForReading } from './open.ts';
import { createRunRows, type RunRows } from './runs.ts';

/** The database as somebody sees it who may not write: what a poll would start from. */
export type Snapshot = Disposable & {
  readonly leagues: Pick<LeagueRows, 'index' | 'load'>;
  readonly oddities: Pick<OddityRows, 'holds'>;
  readonly runs: Pick<RunRows, 'lastNotBefore'>;
};

/** Opens an existing database for comparing only. Throws a DatabaseError. */
export function openSnapshot(path: string): Snapshot {
  const client = openForReading(path);
  const db = drizzle({ client });
  return {
    leagues: createLeagueRows(client, db),
    oddities: createOddityRows(db),
    runs: createRunRows(client, db),
    [Symbol.dispose]: () => client.close(),
  };
}
