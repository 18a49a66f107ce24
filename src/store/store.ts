import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { formatInstant } from '../clock.ts';
import { DatabaseError } from '../errors.ts';
import { toDatabaseError } from './fault.ts';
import { createLeagueRows, type LeagueRows } from './leagues.ts';
import { createLoginRows, type LoginRows } from './logins.ts';
import { migrate, readMigrations } from './migrate.ts';
import { createOddityRows, type OddityRows } from './oddities.ts';
import { closeForReaders, openForWriting } from './open.ts';
import { createPlayerRows, type PlayerRows } from './players.ts';
import { createRunRows, type RunRows } from './runs.ts';

/** The database as its one writer sees it. */
export type Store = Disposable & {
  readonly path: string;
  readonly leagues: LeagueRows;
  readonly runs: RunRows;
  readonly logins: LoginRows;
  readonly players: PlayerRows;
  readonly oddities: OddityRows;
  /**
   * Does the work in one immediate transaction: all of it is on disk afterwards, or none. The work is synchronous and
   * cannot be aborted. Throws a DatabaseError; one that is `busy` may be tried again.
   */
  readonly transaction: <T>(work: () => T) => T;
  /** The instant under which a run's writes are filed: the present one, but later than any that was used before. */
  readonly nextInstant: (now: number) => string;
};

export type StoreOptions = {
  /** Folder of the migrations. */
  readonly migrations: string;
  readonly now: () => number;
};

/** Opens the database, making and migrating it where needed. The caller holds its lock. Throws a DatabaseError. */
export function openStore(path: string, options: StoreOptions): Store {
  const client = openForWriting(path);
  try {
    migrate(client, readMigrations(options.migrations), path, formatInstant(options.now()));
    return createStore(client, path);
  } catch (error) {
    client.close();
    throw toDatabaseError(error, path);
  }
}

function createStore(client: Database.Database, path: string): Store {
  const db = drizzle({ client });
  const runs = createRunRows(client, db);
  const file = identify(path);
  let lastInstant = Date.parse(runs.lastFinishedAt() ?? formatInstant(0));
  return {
    path,
    leagues: createLeagueRows(client, db),
    runs,
    logins: createLoginRows(db),
    players: createPlayerRows(db),
    oddities: createOddityRows(db),
    transaction: (work) => {
      try {
        if (identify(path) !== file) throw replaced(path);
        return client.transaction(work).immediate();
      } catch (error) {
        throw isSqliteError(error) ? toDatabaseError(error, path) : error;
      }
    },
    nextInstant: (now) => {
      // Versions of a league must not share an instant, or the state at it would be two states.
      lastInstant = Math.max(now, lastInstant + 1);
      return formatInstant(lastInstant);
    },
    [Symbol.dispose]: () => closeForReaders(client),
  };
}

function isSqliteError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_');
}

function identify(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? 'gone' : `${stat.dev}:${stat.ino}`;
}

/** Writes to a deleted file succeed and are lost with it, so the path is looked at before each. */
function replaced(path: string): DatabaseError {
  return new DatabaseError(
    `The database ${path} was deleted or replaced while the worker ran; put it back, or restart the worker to begin anew.`,
  );
}
