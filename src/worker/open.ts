import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { formatInstant, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { fingerprintOf } from '../config/credentials.ts';
import type { Log } from '../log.ts';
import { findPackage } from '../package.ts';
import type { LoginReason, LoginRecord } from '../service/login.ts';
import { type RetryAfter, remainingMs } from '../service/retry-after.ts';
import { connect, createTransport, openService } from '../service/service.ts';
import type { Session } from '../service/session.ts';
import { prepareFolder } from '../store/database-file.ts';
import { networkFileSystemOf } from '../store/disk.ts';
import { acquireLock, type Lock } from '../store/lock.ts';
import { openStore, type Store } from '../store/store.ts';
import type { Listener } from '../sync/events.ts';
import type { RunTools } from '../sync/run.ts';
import type { Copy } from './copier.ts';
import { createLoginRecorder } from './login-recorder.ts';
import { createPublisher, type Publisher } from './publisher.ts';

/** Everything that a worker holds, or a command that polls once: the lock, the database, the session. */
export type WorkerResources = AsyncDisposable & {
  readonly tools: RunTools;
  readonly store: Store;
  readonly session: Session;
  readonly retryAfter: RetryAfter;
  /** Undefined if no copy is wanted. */
  readonly publisher: Publisher | undefined;
  /** Runs that an earlier worker left unfinished, now marked `interrupted`. */
  readonly interrupted: number;
};

export type OpenOptions = {
  readonly log: Log;
  readonly pid: number;
  readonly firstReason: LoginReason;
  readonly signal: AbortSignal;
  /** Makes the copies that are published, and the one before an upgrade. */
  readonly copy: Copy;
  /** A demo marks the database that it makes as its own; any other worker removes that mark. */
  readonly isDemo?: boolean;
  /** Done under the lock, before the database is opened, which may take long; disposed of last. */
  readonly onLocked?: () => Promise<AsyncDisposable>;
  /** Is told of every login and run, and of the closed database. */
  readonly emit: Listener;
};

/**
 * Takes the lock, opens the database and the session. Throws a LockedError or a DatabaseError. Disposing closes it all in
 * the opposite order and leaves one file that read-only tools can open.
 */
export async function openWorker(config: Config, options: OpenOptions): Promise<WorkerResources> {
  const { log, pid, signal, emit } = options;
  await using stack = new AsyncDisposableStack();
  const path = prepareFolder(config.database);
  const lock = stack.use(acquireLock(path, { pid, host: hostname(), since: formatInstant(systemClock.now()) }));
  warnOfNetwork(path, log);
  if (options.onLocked !== undefined) stack.use(await options.onLocked());
  const store = stack.use(await openDatabase(path, lock, options));
  const interrupted = await writeFirst(store, options);
  // Above the store: a copy under way is a reader, and the last one to leave leaves one file.
  const publisher = stack.use(publisherOf(store, config, options));
  const fingerprint = fingerprintOf(config);
  const recorder = stack.use(createLoginRecorder(store, fingerprint, log));
  const last = store.read(() => store.runs.lastPause(fingerprint));
  const connection = connect(createTransport(config), {
    retryAfterLeftMs: remainingMs(last, systemClock.now()),
    onRetryAfter: recorder.recordRetryAfter,
  });
  const onLogin = (login: LoginRecord): void => {
    recorder.recordLogin(login);
    emit({ type: 'login', login });
  };
  const service = stack.use(openService(config, connection, { firstReason: options.firstReason, signal, onLogin }));
  const { client, drift, secrets, clock, session, retryAfter } = service;
  const { scope, removalLimit, runTimeoutMs } = config;
  const programVersion = findPackage().version;
  const settings = { scope, removalLimit, runTimeoutMs, fingerprint, programVersion };
  const opened = stack.move();
  return {
    tools: { store, client, drift, clock, ...settings, scrub: secrets.scrub, pausedUntil: retryAfter.until, emit },
    store,
    session,
    retryAfter,
    publisher,
    interrupted,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function warnOfNetwork(path: string, log: Log): void {
  const network = networkFileSystemOf(dirname(path));
  if (network === undefined) return;
  log.warn(
    { network },
    `${path} lies on a network file system (${network}), where SQLite cannot be relied upon: put it on a local disk, and have LEAGUE_SYNC_PUBLISH make a copy for other machines`,
  );
}

async function openDatabase(path: string, lock: Lock, options: OpenOptions): Promise<Store> {
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
  const { upgrade } = store;
  // A warning, since you may want to remove the copy.
  if (upgrade !== undefined)
    log.warn(upgrade, `the schema of the database was brought up to date; as it was, it is kept at ${upgrade.copy}`);
  return store;
}

function publisherOf(store: Store, { publish: target }: Config, options: OpenOptions): Publisher | undefined {
  if (target === undefined) return undefined;
  const { copy, log, signal: stop } = options;
  const changedAt = store.read(store.runs.lastChangedAt);
  return createPublisher({ path: store.path, changedAt, target, copy, clock: systemClock, log, stop });
}

/** Gives how many runs an earlier worker left unfinished. */
function writeFirst(store: Store, { signal, isDemo = false }: OpenOptions): Promise<number> {
  const foundAt = formatInstant(systemClock.now());
  const message = `The worker ended during this run (killed, crashed, or without power); found at the start on ${foundAt}.`;
  return store.write(() => {
    if (!isDemo) store.removeDemoMark();
    return store.runs.interruptRunning(message);
  }, signal);
}
