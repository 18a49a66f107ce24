import type Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { createHoldRows, type HoldRows } from './holds.ts';
import { createLeagueRows, type LeagueRows } from './leagues.ts';
import { readMigrations, refuseOther } from './migrate.ts';
import { readFrom } from './open.ts';
import { createRunRows, type RunRows } from './runs.ts';

/** The database as somebody sees it who may not write: what a poll would start from, at one instant. */
export type Snapshot = {
  readonly leagues: Pick<LeagueRows, 'index' | 'load' | 'joinedSince'>;
  readonly holds: Pick<HoldRows, 'all'>;
};

/** Reads from one state of an existing database, whatever the worker writes meanwhile. Throws a DatabaseError. */
export function readSnapshot<T>(path: string, migrations: string, read: (snapshot: Snapshot) => T): T {
  return readFrom(path, (client) => {
    refuseOther(client, readMigrations(migrations), path);
    const snapshot = {
      leagues: createLeagueRows(client, drizzle({ client })),
      holds: createHoldRows(drizzle({ client })),
    };
    return client.transaction(() => read(snapshot))();
  });
}

/** The last pause that this service asked for. Throws a DatabaseError. */
export function readLastPause(path: string, fingerprint: string): ReturnType<RunRows['lastPause']> {
  return readFrom(path, (client: Database.Database) => runsOf(client).lastPause(fingerprint));
}

function runsOf(client: Database.Database): RunRows {
  return createRunRows(client, drizzle({ client }));
}
