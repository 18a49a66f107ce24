import type Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { type Clock, formatInstant } from '../clock.ts';
import { codeOf, DatabaseError } from '../errors.ts';
import { describeDatabase } from './dictionary.ts';
import { createDriftRows, type DriftRows } from './drift.ts';
import { toDatabaseError } from './fault.ts';
import { createHoldRows, type HoldRows } from './holds.ts';
import { inodeOf } from './identity.ts';
import { createLeagueRows, type LeagueRows } from './leagues.ts';
import { createLoginRows, type LoginRows } from './logins.ts';
import { keepCopy, migrate, readMigrations, refuseOther, type Upgrade } from './migrate.ts';
import { openForWriting } from './open.ts';
import { createPatience, type Patience } from './patience.ts';
import { createPauseRows, type PauseRows } from './pauses.ts';
import { createPlayerRows, type PlayerRows } from './players.ts';
import { createRejectionRows, type RejectionRows } from './rejections.ts';
import { createRunRows, type RunRows } from './runs.ts';
import { closeForReaders } from './wal.ts';

/** The database as its one writer sees it. */
export type Store = AsyncDisposable & {
  readonly path: string;
  /** Where the schema was older when the database was opened, and it held something. */
  readonly upgrade: Upgrade | undefined;
  readonly leagues: LeagueRows;
  readonly runs: RunRows;
  readonly pauses: PauseRows;
  readonly logins: LoginRows;
  readonly players: PlayerRows;
  readonly rejections: RejectionRows;
  readonly holds: HoldRows;
  readonly drift: DriftRows;
  /**
   * Does the work in one immediate transaction: all of it is on disk afterwards, or none. The work is synchronous and
   * cannot be aborted; the signal ends only the wait for other programs. Rejects with a DatabaseError.
   */
  readonly write: Patience;
  /** Reads outside of a transaction. Throws a DatabaseError. */
  readonly read: <T>(work: () => T) => T;
  /** How many rows this store has inserted, updated and deleted so far. */
  readonly rowsWritten: () => number;
  /**
   * The instant under which a run's writes are filed: the present one, but later than any that was used before, so that
   * no two versions of a league share one.
   */
  readonly nextInstant: (now: number) => string;
};

export type StoreOptions = {
  /** Folder of the migrations. */
  readonly migrations: string;
  readonly clock: Clock;
  /** Aborts when the worker is to end: nothing waits for long after that. */
  readonly stop: AbortSignal;
};

/** Opens the database, making and migrating it where needed. The caller must hold its lock. Rejects with a DatabaseError. */
export function openStore(path: string, { migrations, clock, stop }: StoreOptions): Promise<Store> {
  const patience = createPatience(clock, stop);
  const known = readMigrations(migrations);
  let upgrade: Upgrade | undefined;
  return patience(() => {
    const client = openForWriting(path, (db) => {
      refuseOther(db, known, path);
      upgrade ??= keepCopy(db, known, path);
      migrate(db, known, formatInstant(clock.now()));
      describeDatabase(db);
    });
    try {
      return createStore(client, path, patience, upgrade);
    } catch (error) {
      client.close();
      throw toDatabaseError(error, path);
    }
  });
}

function createStore(client: Database.Database, path: string, patience: Patience, upgrade: Upgrade | undefined): Store {
  const db = drizzle({ client });
  const runs = createRunRows(client, db);
  const rowsWritten = client.prepare('SELECT total_changes()').pluck();
  const file = inodeOf(path);
  let lastInstant = Date.parse(runs.lastFinishedAt() ?? formatInstant(0));
  return {
    path,
    upgrade,
    leagues: createLeagueRows(client, db),
    runs,
    pauses: createPauseRows(client),
    logins: createLoginRows(db),
    players: createPlayerRows(db),
    rejections: createRejectionRows(db),
    holds: createHoldRows(db),
    drift: createDriftRows(db),
    write: (work, signal) =>
      patience(() => {
        try {
          if (inodeOf(path) !== file) throw replaced(path);
          return client.transaction(work).immediate();
        } catch (error) {
          throw isSqliteError(error) ? toDatabaseError(error, path) : error;
        }
      }, signal),
    rowsWritten: () => Number(rowsWritten.get()),
    read: (work) => {
      try {
        return work();
      } catch (error) {
        throw isSqliteError(error) ? toDatabaseError(error, path) : error;
      }
    },
    nextInstant: (now) => {
      lastInstant = Math.max(now, lastInstant + 1);
      return formatInstant(lastInstant);
    },
    [Symbol.asyncDispose]: async () => {
      // The log beside a file that took our file's place is not ours to empty.
      if (inodeOf(path) === file) await closeForReaders(client);
      else client.close();
    },
  };
}

function isSqliteError(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_');
}

/** Writes to a deleted file succeed and are lost with it, so the path is looked at before each. */
function replaced(path: string): DatabaseError {
  return new DatabaseError(
    `The database ${path} was deleted or replaced while the worker ran; put it back, or restart the worker to begin anew.`,
  );
}
