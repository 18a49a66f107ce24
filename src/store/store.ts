import type Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { type Clock, formatInstant } from '../clock.ts';
import type { DatabaseError } from '../errors.ts';
import { createPatience, type Patience } from './busy.ts';
import { openForWriting } from './connection.ts';
import { describeDatabase } from './data-dictionary.ts';
import { toDatabaseError } from './database-error.ts';
import { createPossession, type Possession } from './database-file.ts';
import { removeDemoMark } from './demo-mark.ts';
import type { Lock } from './lock.ts';
import { migrate, pendingUpgrade, readMigrations, refuseOther, type Upgrade } from './migrate.ts';
import { prepareFreshness } from './queries/overview.ts';
import { createDriftRows } from './tables/drift.ts';
import { createHoldRows } from './tables/held-removals.ts';
import { createLeagueRows } from './tables/leagues.ts';
import { createLoginRows } from './tables/logins.ts';
import { createPlayerRows } from './tables/players.ts';
import { createRejectionRows } from './tables/rejections.ts';
import { createRunRows } from './tables/runs.ts';
import { closeForReaders, removeWalFiles } from './wal.ts';
import { createWriting, isSqliteError } from './writing.ts';

/** The database as its one writer sees it. */
export type Store = ReturnType<typeof createStore>;

export type StoreOptions = {
  /** Folder of the migrations. */
  readonly migrations: string;
  readonly clock: Clock;
  /** Aborts when the worker is to end: nothing waits for long after that. */
  readonly stop: AbortSignal;
  /** Copies the database to where it is found again as it was, before an upgrade begins. */
  readonly keepCopy: (upgrade: Upgrade) => Promise<void>;
  /** Told when another program has been in the way for seconds. */
  readonly onLongWait: (error: DatabaseError) => void;
  readonly lock: Pick<Lock, 'renew'>;
  /** Whether a database that is made here is a demo's, and may be deleted by the next one. */
  readonly isDemo?: boolean;
  /** Is told, last, how the store was closed. */
  readonly onClosed: (result: CloseResult) => void;
};

/** How a store was closed. */
export type CloseResult = {
  readonly path: string;
  /**
   * `one-file` that any tool can open; `log-beside` it, the WAL, if another program has the file open; `not-ours` if
   * another file has taken its place.
   */
  readonly files: 'one-file' | 'log-beside' | 'not-ours';
  /** Whether the end of the last run could not be written. */
  readonly isIncomplete: boolean;
};

/**
 * Opens the database, making and migrating it where needed. The caller must hold its lock. Rejects with a
 * DatabaseError, or with the reason of `stop`.
 */
export async function openStore(path: string, options: StoreOptions): Promise<Store> {
  const { clock, stop } = options;
  const patience = createPatience(clock, stop, options.onLongWait);
  const known = readMigrations(options.migrations);
  let upgrade = undefined as Upgrade | undefined;
  const prepare = (db: Database.Database): boolean => {
    refuseOther(db, known, path);
    const pending = pendingUpgrade(db, known, path);
    if (pending !== undefined && upgrade === undefined) {
      upgrade = pending;
      return false;
    }
    migrate(db, known, { at: formatInstant(clock.now()), isDemo: options.isDemo ?? false });
    describeDatabase(db);
    return true;
  };
  for (;;) {
    const store = await patience(() => {
      const client = openForWriting(path, prepare);
      return client === undefined ? undefined : storeOn(client, path, { ...options, patience, upgrade });
    }, stop);
    if (store !== undefined) return store;
    if (upgrade !== undefined) await options.keepCopy(upgrade);
  }
}

type Parts = Pick<StoreOptions, 'lock' | 'onClosed'> & {
  readonly patience: Patience;
  readonly upgrade: Upgrade | undefined;
};

function storeOn(client: Database.Database, path: string, parts: Parts): Store {
  try {
    return createStore(client, path, parts);
  } catch (error) {
    client.close();
    throw toDatabaseError(error, path);
  }
}

function createStore(client: Database.Database, path: string, { lock, onClosed, patience, upgrade }: Parts) {
  const possession = createPossession(path);
  const { hasUnwritten, ...writing } = createWriting(client, { path, lock, possession, patience });
  const rows = createRows(client);
  const freshness = prepareFreshness(client);
  const rowsWritten = client.prepare<[], number>('SELECT total_changes()').pluck();
  let lastInstant = Date.parse(rows.runs.lastFinishedAt() ?? formatInstant(0));
  return {
    path,
    /** If the schema was older when the database was opened, and it held something. */
    upgrade,
    ...rows,
    ...writing,
    /** Within a transaction: a database that a demo made is no demo's from here on. */
    removeDemoMark: () => removeDemoMark(client),
    freshness,
    /** How many rows this store has inserted, updated and deleted so far. */
    rowsWritten: () => Number(rowsWritten.get()),
    /** Reads outside of a transaction. Throws a DatabaseError. */
    read: <T>(work: () => T): T => {
      try {
        return work();
      } catch (error) {
        throw isSqliteError(error) ? toDatabaseError(error, path) : error;
      }
    },
    /**
     * The instant under which a run's writes are filed: the present one, but later than any that was used before, so
     * that no two versions of a league share one.
     */
    nextInstant: (now: number): string => {
      lastInstant = Math.max(now, lastInstant + 1);
      return formatInstant(lastInstant);
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      if (hasUnwritten()) await writing.write(() => undefined).catch(() => undefined);
      onClosed({ path, files: await close(client, possession), isIncomplete: hasUnwritten() });
    },
  };
}

function createRows(client: Database.Database) {
  const db = drizzle({ client });
  return {
    leagues: createLeagueRows(client),
    runs: createRunRows(db),
    logins: createLoginRows(db),
    players: createPlayerRows(db),
    rejections: createRejectionRows(db),
    holds: createHoldRows(db),
    drift: createDriftRows(db),
  };
}

async function close(client: Database.Database, possession: Possession): Promise<CloseResult['files']> {
  if (possession.isOurs('')) return (await closeForReaders(client)) ? 'one-file' : 'log-beside';
  // Beside the file that took the place of ours our WAL would be taken for its own, and destroy it.
  if (possession.isOurs('-wal')) removeWalFiles(client.name);
  client.close();
  return 'not-ours';
}
