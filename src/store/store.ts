import type Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { DatabaseError } from '../errors.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';
import { createRetryWhileBusy, type RetryWhileBusy } from './busy.ts';
import { openForWriting } from './connection.ts';
import { describeDatabase } from './data-dictionary.ts';
import { explainErrors, toDatabaseError } from './database-error.ts';
import { removeDemoMark } from './demo-mark.ts';
import { type ClosedFiles, createFileGuard } from './detect-file-loss.ts';
import { inspectForeignObjects } from './foreign-objects.ts';
import { assertSchemaKnown, migrate, pendingUpgrade, readMigrations, type Upgrade } from './migrate.ts';
import { createPruning } from './prune.ts';
import { createFeed } from './queries/feed.ts';
import { prepareStatus } from './queries/overview.ts';
import { createDriftRows } from './tables/drift.ts';
import { createHoldRows } from './tables/held-removals.ts';
import { createIdentity } from './tables/identity.ts';
import { createLeagueRows } from './tables/leagues.ts';
import { createLoginRows } from './tables/logins.ts';
import { createOutputRows } from './tables/outputs.ts';
import { createPlayerRows } from './tables/players.ts';
import { createPollRequests } from './tables/poll-requests.ts';
import { createRejectionRows } from './tables/rejections.ts';
import { createRunRows } from './tables/runs.ts';
import { createWebhookRows } from './tables/webhook.ts';
import { closeKeepingReadable, enableWal } from './wal.ts';
import type { Lock } from './worker-lock.ts';
import { createWriter } from './writer.ts';

/** The open database of the process that holds the lock. Commands that only ask for something write without the lock. */
export type Store = ReturnType<typeof createStore>;

export type StoreOptions = {
  /** The folder of the migrations. */
  readonly migrations: string;
  readonly clock: Clock;
  /** When aborted, ends waits for other programs: at once while the database is being opened, otherwise within 3 s. */
  readonly stop: AbortSignal;
  readonly copyBeforeUpgrade: (upgrade: Upgrade) => Promise<void>;
  /** Called at most once per wait: when another program has kept the database locked for 2 s. */
  readonly onLongWait: (error: DatabaseError) => void;
  readonly lock: Pick<Lock, 'renew'>;
  /** Whether closing leaves the WAL, for programs that follow it, such as Litestream. */
  readonly keepWal?: boolean;
  /** Marks a new database, so that the next demo may delete it. */
  readonly isDemo?: boolean;
  readonly onClosed: (result: CloseResult) => void;
};

export type CloseResult = ClosedFiles & {
  readonly path: string;
  /** Names what could not be written, such as the end of a run; empty if everything was. */
  readonly unsaved: string;
};

/** Opens, creates or migrates the database, whose lock is held. Rejects with a DatabaseError or StoppedError. */
export async function openStore(path: string, options: StoreOptions): Promise<Store> {
  const { clock, stop } = options;
  const retryWhileBusy = createRetryWhileBusy(clock, stop, options.onLongWait);
  const known = readMigrations(options.migrations);
  let upgrade: Upgrade | undefined;
  const open = (): Store | undefined => {
    const client = openForWriting(path);
    try {
      assertSchemaKnown(client, known, path);
      const pending = pendingUpgrade(client, known, path);
      if (pending !== undefined && upgrade === undefined) {
        upgrade = pending;
        closeKeepingReadable(client);
        return undefined;
      }
      migrate(client, known, formatTimestamp(clock.now()), options.isDemo);
      const { fault } = inspectForeignObjects(client, known, path);
      if (fault?.endsPolls) throw new DatabaseError(`Nothing can be written: ${fault.message}.`, fault);
      describeDatabase(client);
      // Must follow `migrate`, which sets our application id: `assertHeaderOurs` rejects a WAL if that id is missing.
      enableWal(client);
      return createStore(client, { ...options, retryWhileBusy, upgrade });
    } catch (error) {
      closeKeepingReadable(client);
      throw toDatabaseError(error, path);
    }
  };
  for (;;) {
    const store = await retryWhileBusy(open, stop);
    if (store !== undefined) return store;
    if (upgrade !== undefined) await options.copyBeforeUpgrade(upgrade);
  }
}

type Parts = StoreOptions & { readonly retryWhileBusy: RetryWhileBusy; readonly upgrade: Upgrade | undefined };

function createStore(client: Database.Database, parts: Parts) {
  const { lock, onClosed, retryWhileBusy, upgrade, keepWal = false } = parts;
  const path = client.name;
  const guard = createFileGuard(client);
  const db = drizzle({ client });
  const writer = createWriter(client, { lock, guard, retryWhileBusy });
  const runs = createRunRows(client);
  const rowsWritten = client.prepare<[], number>('SELECT total_changes()').pluck();
  let lastTimestamp = Date.parse(runs.lastFinishedAt() ?? formatTimestamp(0));
  return {
    path,
    identity: createIdentity(client),
    prune: createPruning(client),
    /** The upgrade made at opening; undefined if the schema was current or the database had no runs. */
    upgrade,
    ...writer,
    leagues: createLeagueRows(client),
    runs,
    logins: createLoginRows(client),
    players: createPlayerRows(db),
    rejections: createRejectionRows(db),
    holds: createHoldRows(db),
    drift: createDriftRows(db),
    outputs: createOutputRows(client),
    webhook: createWebhookRows(client),
    pollRequests: createPollRequests(client),
    feed: createFeed(client),
    ...prepareStatus(client),
    /** How many names the file has: more than one if there are hard links. */
    countNames: guard.countNames,
    removeDemoMark: () => removeDemoMark(client),
    /** How many rows this store has inserted, updated and deleted so far. */
    rowsWritten: () => Number(rowsWritten.get()),
    /** Reads outside of a transaction. Throws a DatabaseError. */
    read: <T>(work: () => T): T => explainErrors(path, work),
    /** Each timestamp is later than the previous one, so that no two versions of a league have the same timestamp. */
    nextTimestamp: (now: number): string => {
      lastTimestamp = Math.max(now, lastTimestamp + 1);
      return formatTimestamp(lastTimestamp);
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      if (!client.open) return;
      await writer.flush();
      onClosed({ path, ...(await guard.close(keepWal)), unsaved: writer.describeUnsaved() });
    },
  };
}
