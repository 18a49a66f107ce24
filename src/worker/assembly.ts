import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { type Clock, formatInstant, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { fingerprintOf } from '../config/fingerprint.ts';
import { createDriftLog, type DriftLog } from '../drift.ts';
import { type DatabaseError, StoppedError } from '../errors.ts';
import type { Log } from '../log.ts';
import { findPackage } from '../package.ts';
import { createSecrets } from '../secret.ts';
import { type Client, createClient } from '../service/client.ts';
import { createLogIn, type LoginFailure, type LoginReason, type LoginRecord } from '../service/login.ts';
import { createPause, msLeftOf, type Pause, respectPause } from '../service/pause.ts';
import { createSession, type Session } from '../service/session.ts';
import { createTransport } from '../service/transport.ts';
import { networkFileSystemOf } from '../store/filesystem.ts';
import { prepareFolder } from '../store/folder.ts';
import { acquireLock, type Lock } from '../store/lock.ts';
import type { Upgrade } from '../store/migrate.ts';
import { type Ending, openStore, type Store } from '../store/store.ts';
import type { RunTools } from '../sync/run.ts';
import type { Copy } from './copier.ts';
import { createJournal } from './journal.ts';
import { createPublisher, type Publisher } from './publisher.ts';

/** The side that talks to the service. */
export type ServiceSide = AsyncDisposable & {
  readonly client: Client;
  readonly session: Session;
  readonly pause: Pause;
  readonly drift: DriftLog;
  readonly clock: Clock;
};

export type ServiceOptions = {
  readonly firstReason: LoginReason;
  readonly signal: AbortSignal;
  /** How long (ms) the service still wants to be left alone, as far as earlier runs know. */
  readonly pauseLeftMs: number;
  readonly record: (login: LoginRecord) => void;
  readonly onLoginFailure?: ((failure: LoginFailure) => void) | undefined;
  /** Told of the end (ms) of every pause that the service asks for. */
  readonly recordPause?: (until: number) => void;
};

/** Builds the service side from the settings. Nothing is sent yet. */
export function assembleService(config: Config, options: ServiceOptions): ServiceSide {
  const clock = systemClock;
  const random = Math.random;
  const secrets = createSecrets();
  const drift = createDriftLog();
  const pause = createPause(clock, options.pauseLeftMs, options.recordPause);
  const ending = new AbortController();
  const { baseUrl, proxy, attemptTimeoutMs, maxBodyBytes } = config;
  const userAgent = `league-sync/${findPackage().version}`;
  const plain = createTransport({ baseUrl, proxy, attemptTimeoutMs, maxBodyBytes, userAgent });
  const transport = respectPause(plain, pause, clock);
  const { credentials } = config;
  const { record, onLoginFailure: onFailure } = options;
  const logIn = createLogIn({ transport, secrets, drift, clock, random, pause, record, onFailure });
  const session = createSession({
    logIn,
    credentials,
    clock,
    random,
    leewayMs: config.loginLeewayMs,
    firstReason: options.firstReason,
    loginTimeoutMs: config.runTimeoutMs,
    signal: AbortSignal.any([options.signal, ending.signal]),
  });
  const client = createClient({ transport, session, secrets, clock, random, pause });
  const end = async (): Promise<void> => {
    ending.abort(new StoppedError());
    await session.settled();
  };
  return { client, session, pause, drift, clock, [Symbol.asyncDispose]: end };
}

/** Everything that a worker, or a command that works as one, holds: the lock, the database, the session. */
export type Workplace = AsyncDisposable & {
  readonly tools: RunTools;
  readonly store: Store;
  readonly session: Session;
  readonly pause: Pause;
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
  /** Done under the lock, before the database is opened, which may take long; ended last. */
  readonly onLocked?: () => Promise<AsyncDisposable>;
  /** Told, last, how the database was left. */
  readonly onEnd?: (ending: Ending) => void;
  /** Told of each login. */
  readonly onLogin?: (login: LoginRecord) => void;
  /** Told once of each login that was given up after all its attempts. */
  readonly onLoginFailure?: (failure: LoginFailure) => void;
};

/**
 * Takes the lock, opens the database and builds the service side. Throws a LockedError or a DatabaseError. Disposing
 * ends it all in the opposite order and leaves one file that read-only tools can open.
 */
export async function openWorkplace(config: Config, options: WorkplaceOptions): Promise<Workplace> {
  await using stack = new AsyncDisposableStack();
  const clock = systemClock;
  const path = prepareFolder(config.database);
  const lock = stack.use(acquireLock(path, { pid: options.pid, host: hostname(), since: formatInstant(clock.now()) }));
  const { version, migrations } = findPackage();
  const network = networkFileSystemOf(dirname(path));
  if (network !== undefined) options.log.warn({ network }, describeNetwork(path, network));
  if (options.onLocked !== undefined) stack.use(await options.onLocked());
  const { copy, log, signal: stop } = options;
  const keepCopy = async (upgrade: Upgrade): Promise<void> => {
    log.info(upgrade, `the schema of the database is an older one: first it is copied, as it is, to ${upgrade.copy}`);
    await copy(path, upgrade.copy, { replace: true, signal: stop });
  };
  const onLongWait = ({ message }: DatabaseError): void =>
    log.warn({ database: path }, `waiting, for at most a minute: ${message}`);
  const store = stack.use(
    await openStore(path, {
      migrations,
      clock,
      stop,
      keepCopy,
      onLongWait,
      lock,
      onEnd: options.onEnd ?? (() => undefined),
    }),
  );
  const interrupted = await markInterrupted(store, clock, stop);
  if (store.upgrade !== undefined) logUpgrade(log, store.upgrade);
  const changedAt = store.read(store.runs.lastChangedAt);
  // Above the store: a copy under way is a reader, and the last one to leave leaves one file.
  const publisher = stack.use(createPublisher({ path, changedAt, target: config.publish, copy, clock, log, stop }));

  const fingerprint = fingerprintOf(config);
  const journal = stack.use(createJournal(store, fingerprint, log));
  const service = stack.use(
    assembleService(config, {
      firstReason: options.firstReason,
      signal: options.signal,
      pauseLeftMs: msLeftOf(
        store.read(() => store.pauses.last(fingerprint)),
        clock.now(),
      ),
      record: (login) => {
        journal.recordLogin(login);
        options.onLogin?.(login);
      },
      onLoginFailure: options.onLoginFailure,
      recordPause: journal.recordPause,
    }),
  );
  const { client, session, pause, drift } = service;
  const { scope, removalLimit, runTimeoutMs } = config;
  const tools: RunTools = {
    store,
    client,
    drift,
    clock,
    scope,
    removalLimit,
    runTimeoutMs,
    pausedUntil: pause.until,
    fingerprint,
    programVersion: version,
  };
  const held = stack.move();
  return {
    tools,
    store,
    session,
    pause,
    publisher,
    keepLock: () => keep(lock),
    interrupted,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

function keep(lock: Lock): void {
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

function markInterrupted(store: Store, clock: Clock, stop: AbortSignal): Promise<number> {
  const message = `The worker ended during this run (killed, crashed, or without power); found at the start on ${formatInstant(clock.now())}.`;
  return store.write(() => store.runs.interruptRunning(message), stop);
}
