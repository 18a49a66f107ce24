import { drizzle } from 'drizzle-orm/better-sqlite3';
import { withReader } from '../connection.ts';
import { readMigrations, refuseOther } from '../migrate.ts';
import { createHoldRows, type HoldRows } from '../tables/held-removals.ts';
import { createLeagueRows, type LeagueRows } from '../tables/leagues.ts';
import { createPauseRows, type PauseRows } from '../tables/pauses.ts';

/** The database as somebody sees it who may not write: what a poll would start from, at one instant. */
export type Snapshot = {
  readonly leagues: Pick<LeagueRows, 'index' | 'load' | 'joinedSince'>;
  readonly holds: Pick<HoldRows, 'all'>;
};

/** Reads from one state of an existing database, whatever the worker writes meanwhile. Throws a DatabaseError. */
export function readSnapshot<T>(path: string, migrations: string, read: (snapshot: Snapshot) => T): T {
  return withReader(path, (client) => {
    refuseOther(client, readMigrations(migrations), path);
    const snapshot = {
      leagues: createLeagueRows(client),
      holds: createHoldRows(drizzle({ client })),
    };
    return client.transaction(() => read(snapshot))();
  });
}

/** The last pause that this service asked for. Throws a DatabaseError. */
export function readLastPause(path: string, fingerprint: string): ReturnType<PauseRows['last']> {
  return withReader(path, (client) => createPauseRows(client).last(fingerprint));
}
