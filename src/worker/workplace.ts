import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { formatInstant, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { fingerprintOf } from '../config/credentials.ts';
import type { Log } from '../log.ts';
import { findPackage } from '../package.ts';
import type { LoginReason } from '../service/login.ts';
import { type RetryAfter, remainingMs } from '../service/retry-after.ts';
import { connect, createTransport, openService, type Service } from '../service/service.ts';
import type { Session } from '../service/session.ts';
import { prepareFolder } from '../store/database-file.ts';
import { networkFileSystemOf } from '../store/disk.ts';
import { acquireLock, type Lock } from '../store/lock.ts';
import type { Upgrade } from '../store/migrate.ts';
import { openStore, type Store } from '../store/store.ts';
import type { Listener } from '../sync/events.ts';
import type { RunTools } from '../sync/run.ts';
import type { Copy } from './copier.ts';
import { createJournal, type Journal } from './journal.ts';
import { createPublisher, type Publisher } from './publisher.ts';

/** Everything that a worker, or a command that works as one, holds: the lock, the database, the session. */
export type Workplace = AsyncDisposable & {
  readonly tools: RunTools;
  readonly store: Store;
  readonly session: Session;
  readonly retryAfter: RetryAfter;
  readonly publisher: Publisher;
  /** Takes the lock anew where its file was deleted; where another worker has it, whoever writes next says so. */
  readonly keepLock: () => void;
  /** Runs that an earlier worker left unfinished, now marked `interrupted`. */
  readonly interrupted: number;
};

export type WorkplaceOptions = {
  readonly log: Log;
  readonly pid: number;
  readonly firstReason: LoginReason;
  readonly signal: AbortSignal;
  /** Makes the copies that are published, and the one before an upgrade. */
  readonly copy: Copy;
  /** Whether a demo works here: the database that it makes is marked as its own, and anybody else takes that mark away. */
  readonly isDemo?: boolean;
  /** Done under the lock, before the database is opened, which may take long; ended last. */
  readonly onLocked?: () => Promise<AsyncDisposable>;
  /** Is told of every login and run, and of the closed database. */
  readonly emit: Listener;
};

/**
 * Takes the lock, opens the database and builds the service side. Throws a LockedError or a DatabaseError. Disposing
 * ends it all in the opposite order and leaves one file that read-only tools can open.
 */
export async function openWorkplace(config: Config, options: WorkplaceOptions): Promise<Workplace> {
  await using stack = new AsyncDisposableStack();
  const path = prepareFolder(config.database);
  const holder = { pid: options.pid, host: hostname(), since: formatInstant(systemClock.now()) };
  const lock = stack.use(acquireLock(path, holder));
  warnOfNetwork(path, options.log);
  if (options.onLocked !== undefined) stack.use(await options.onLocked());
  const store = stack.use(await openDatabase(path, lock, options));
  const interrupted = await begin(store, options);
  // Above the store: a copy under way is a reader, and the last one to leave leaves one file.
  const publisher = stack.use(publisherOf(store, config, options));
  const fingerprint = fingerprintOf(config);
  const journal = stack.use(createJournal(store, fingerprint, options.log));
  const service = stack.use(openRecordedService({ store, journal, fingerprint }, config, options));
  const held = stack.move();
  return {
    tools: { ...toolsOf(store, service, fingerprint, config), emit: options.emit },
    store,
    session: service.session,
    retryAfter: service.retryAfter,
    publisher,
    keepLock: () => renewQuietly(lock),
    interrupted,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

function warnOfNetwork(path: string, log: Log): void {
  const network = networkFileSystemOf(dirname(path));
  if (network !== undefined) log.warn({ network }, describeNetwork(path, network));
}

async function openDatabase(path: string, lock: Lock, options: WorkplaceOptions): Promise<Store> {
  const { copy, log, signal: stop } = options;
  const store = await openStore(path, {
    migrations: findPackage().migrations,
    clock: systemClock,
    stop,
    keepCopy: async (upgrade) => {
      log.info(upgrade, `the schema of the database is an older one: first it is copied, as it is, to ${upgrade.copy}`);
      await copy(path, upgrade.copy, { replace: 'earlier', signal: stop });
    },
    onLongWait: ({ message }) => log.warn({ database: path }, `waiting, for at most a minute: ${message}`),
    lock,
    isDemo: options.isDemo ?? false,
    onClosed: (result) => options.emit({ type: 'closed', result }),
  });
  if (store.upgrade !== undefined) logUpgrade(log, store.upgrade);
  return store;
}

function publisherOf(store: Store, config: Config, { copy, log, signal: stop }: WorkplaceOptions): Publisher {
  const changedAt = store.read(store.runs.lastChangedAt);
  return createPublisher({ path: store.path, changedAt, target: config.publish, copy, clock: systemClock, log, stop });
}

type Records = { readonly store: Store; readonly journal: Journal; readonly fingerprint: string };

function openRecordedService(
  { store, journal, fingerprint }: Records,
  config: Config,
  options: WorkplaceOptions,
): Service {
  const last = store.read(() => store.runs.lastPause(fingerprint));
  const retryAfterLeftMs = remainingMs(last, systemClock.now());
  const connection = connect(createTransport(config), { retryAfterLeftMs, onRetryAfter: journal.recordPause });
  return openService(config, connection, {
    firstReason: options.firstReason,
    signal: options.signal,
    onLogin: (login) => {
      journal.recordLogin(login);
      options.emit({ type: 'login', login });
    },
  });
}

function toolsOf(store: Store, service: Service, fingerprint: string, config: Config): Omit<RunTools, 'emit'> {
  const { client, drift, secrets, clock, retryAfter } = service;
  const { scope, removalLimit, runTimeoutMs } = config;
  const programVersion = findPackage().version;
  const [scrub, pausedUntil] = [secrets.scrub, retryAfter.until];
  const run = { fingerprint, programVersion, scope, removalLimit, runTimeoutMs, pausedUntil };
  return { store, client, drift, scrub, clock, ...run };
}

function renewQuietly(lock: Lock): void {
  try {
    lock.renew();
  } catch {
    // Writing needs it, too, and fails with the same words.
  }
}

function describeNetwork(path: string, network: string): string {
  return `${path} lies on a network file system (${network}), where SQLite cannot be relied upon: put it on a local disk, and have LEAGUE_SYNC_PUBLISH make a copy for other machines`;
}

/** Loud enough for whoever looks at warnings alone: the copy is theirs to remove. */
function logUpgrade(log: Log, upgrade: Upgrade): void {
  log.warn(upgrade, `the schema of the database was brought up to date; as it was, it is kept at ${upgrade.copy}`);
}

/** The first thing that is written. Gives how many runs an earlier worker left unfinished. */
function begin(store: Store, { signal, isDemo = false }: WorkplaceOptions): Promise<number> {
  const foundAt = formatInstant(systemClock.now());
  const message = `The worker ended during this run (killed, crashed, or without power); found at the start on ${foundAt}.`;
  return store.write(() => {
    if (!isDemo) store.removeDemoMark();
    return store.runs.interruptRunning(message);
  }, signal);
}
