import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import { fingerprintOf } from '../config/credentials.ts';
import { formatProblem, toRunError } from '../errors.ts';
import type { Listener } from '../events.ts';
import { remainingMs } from '../http/retry-after.ts';
import type { Log } from '../log.ts';
import { openFollower } from '../outputs/output-loop.ts';
import { type CopyDatabase, createCopyOutput } from '../outputs/publish-copy.ts';
import { findPackage } from '../package.ts';
import type { System } from '../service/connection.ts';
import type { LoginReason, LoginRecord } from '../service/login.ts';
import { openService } from '../service/service.ts';
import { assertOneName, holdsDatabase, prepareFolder } from '../store/database-file.ts';
import { networkProblem } from '../store/disk.ts';
import { type CloseResult, openStore, type Store } from '../store/store.ts';
import { OUTPUT_NAMES } from '../store/tables/outputs.ts';
import { acquireLock, type Lock, type LockCommand } from '../store/worker-lock.ts';
import { findLoginWait } from '../sync/login-wait.ts';
import type { RunDeps } from '../sync/run.ts';
import { assertSameService } from '../sync/same-service.ts';
import { staleAt } from '../sync/stale-at.ts';
import { formatTimestamp } from '../time/clock.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';

export type WorkerResources = Awaited<ReturnType<typeof openWorker>>;

export type OpenOptions = {
  readonly system: System;
  readonly log: Log;
  readonly pid: number;
  readonly command: LockCommand;
  readonly firstReason: LoginReason;
  readonly signal: AbortSignal;
  readonly copy: CopyDatabase;
  /** Marks a new database as a demo database. A worker without this option removes the mark. */
  readonly isDemo?: boolean;
  /** Whether a database of another service is taken over. */
  readonly serviceMoved?: boolean;
  /** If this (ms) is before the newest refused login, the session waits as that login demands. */
  readonly mayLogInSince?: number;
  /** Called with the lock held, before the database is opened. The result is disposed after the store. */
  readonly onLocked?: () => Promise<AsyncDisposable | undefined>;
  readonly emit: Listener;
  readonly onClosed?: (result: CloseResult) => void;
};

/**
 * Takes the lock and opens database and session. Rejects with a LockedError, a DatabaseError, the signal's reason or
 * the error of `onLocked`. Disposing closes all in reverse and leaves one file, unless another program has it open.
 */
export async function openWorker(config: Config, options: OpenOptions) {
  const { log, pid, command, emit, system } = options;
  const { clock } = system;
  await using stack = new AsyncDisposableStack();
  const path = prepareFolder(config.database);
  const since = formatTimestamp(clock.now());
  const owner = { pid, host: hostname(), since, command };
  const lock = stack.use(acquireLock(path, owner));
  assertOneName(path);
  const problem = networkProblem(path, dirname(path));
  if (problem !== undefined) log.warn({ network: problem.network }, formatProblem(problem));
  stack.use(await options.onLocked?.());
  const store = stack.use(await openDatabase(path, lock, config, options));
  const { serviceMoved = false } = options;
  if (!serviceMoved) assertSameService(path, store.read(store.identity.baseUrl), config.baseUrl);
  const interrupted = await prepareRows(store, config, options);
  const copy = await openCopy(store, config, options);
  const fingerprint = fingerprintOf(config);
  const recorder = stack.use(createLoginRecorder(store, fingerprint, log));
  const last = store.read(() => store.runs.lastRetryAfter(fingerprint));
  const waits = { retryAfterLeftMs: remainingMs(last, clock.now()), onRetryAfter: recorder.recordRetryAfter };
  const onLogin = (login: LoginRecord): void => {
    recorder.recordLogin(login);
    emit({ type: 'login', login });
  };
  const barredBy = findBar(store, fingerprint, options);
  const service = stack.use(openService(config, { ...options, ...waits, barredBy, onLogin }));
  const { client, drift, secrets, session, retryAfter } = service;
  const deps: RunDeps = {
    ...{ ...config, serviceMoved, fingerprint, programVersion: findPackage().version },
    ...{ store, client, drift, clock, emit, scrub: secrets.scrub, pausedUntil: retryAfter.until },
    staleAt: (now) => staleAt(config, now),
  };
  const opened = stack.move();
  return {
    deps,
    store,
    session,
    retryAfter,
    copy,
    interrupted,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Why nothing may be sent yet. Leagues can be stored even if the table of logins is damaged. */
function findBar(store: Store, fingerprint: string, { mayLogInSince, system }: OpenOptions) {
  if (mayLogInSince === undefined) return undefined;
  const failures = tryOrUndefined(() => store.read(() => store.logins.lastingFailures(fingerprint)));
  return failures && findLoginWait(failures, mayLogInSince, system.clock.now());
}

async function openDatabase(path: string, lock: Lock, { keepWal }: Config, options: OpenOptions): Promise<Store> {
  const { copy, log, signal: stop } = options;
  const { clock } = options.system;
  const isNew = !holdsDatabase(path);
  let copyingSince = 0;
  const store = await openStore(path, {
    migrations: findPackage().migrations,
    clock,
    stop,
    copyBeforeUpgrade: async (upgrade) => {
      copyingSince = clock.monotonic();
      log.info(upgrade, `the database has an older schema: copying it to ${upgrade.copy} before the upgrade`);
      await copy(path, upgrade.copy, { replace: 'earlier', signal: stop });
    },
    onLongWait: ({ message }) => log.warn({ database: path }, `waiting up to a minute: ${message}`),
    lock,
    keepWal,
    isDemo: options.isDemo ?? false,
    onClosed: options.onClosed ?? (() => undefined),
  });
  if (isNew) log.info({ database: path }, `there was no database at ${path}: created a new one`);
  const { upgrade } = store;
  if (upgrade !== undefined) {
    const line = { ...upgrade, duration_ms: Math.round(clock.monotonic() - copyingSince) };
    // Logged as a warning, so that the operator notices the copy and can delete it.
    log.warn(line, `the schema of the database was upgraded; the old database is kept at ${upgrade.copy}`);
  }
  return store;
}

async function openCopy(store: Store, { copy: target }: Config, { copy, log, system, signal }: OpenOptions) {
  if (target === undefined) return undefined;
  const { clock } = system;
  const changedAt = () => store.read(store.runs.lastChangedAt);
  const output = createCopyOutput({ path: store.path, target, changedAt, copy, clock });
  return openFollower(output, { store, clock, log }, signal);
}

/** Records logins and each Retry-After in the background; logs failed writes. Disposing waits for pending writes. */
export function createLoginRecorder(store: Store, fingerprint: string, log: Log) {
  let writing: Promise<unknown> = Promise.resolve();
  const logFailureOf = (what: string) => (error: unknown) =>
    log.error({ err: toRunError(error) }, `${what} could not be recorded in the database`);
  return {
    recordLogin: ({ at, outcome, reason, runId, expiresAt, clockSkewMs, errorMessage, error }: LoginRecord): void => {
      const row = {
        at: formatTimestamp(at),
        outcome,
        reason,
        expires_at: expiresAt === undefined ? null : formatTimestamp(expiresAt),
        clock_skew_ms: clockSkewMs ?? null,
        error_message: errorMessage ?? null,
        not_before: error?.notBefore === undefined ? null : formatTimestamp(error.notBefore),
        fingerprint,
        run_id: runId,
      };
      const written = store
        .writeLogin(() => store.logins.add(row))
        .catch(logFailureOf(`a login (${reason}, ${outcome})`));
      writing = Promise.all([writing, written]);
    },
    /** Stores the end (ms) of a Retry-After at once: if a login between two runs receives it, no run would store it. */
    recordRetryAfter: (until: number): void => {
      const end = formatTimestamp(until);
      writing = writing
        .then(() => store.write(() => store.runs.noteRetryAfter(fingerprint, end)))
        .catch(logFailureOf('a Retry-After'));
    },
    [Symbol.asyncDispose]: async (): Promise<void> => void (await writing),
  };
}

/**
 * Removes the demo mark unless `isDemo`, requests for polls, and the rows of outputs that are not set, and adds
 * `stale_at` to a last good poll of version 0.1.0. Marks unfinished runs as `interrupted` and resolves to their number.
 */
function prepareRows(store: Store, config: Config, { signal, isDemo = false, system }: OpenOptions): Promise<number> {
  const { clock } = system;
  const foundAt = formatTimestamp(clock.now());
  const message = `The worker stopped during this poll (killed, crashed or power lost); found at the next start, on ${foundAt}.`;
  return store.write(() => {
    if (!isDemo) store.removeDemoMark();
    store.pollRequests.take(clock.now());
    store.outputs.keepOnly(OUTPUT_NAMES.filter((name) => config[name] !== undefined));
    const { id, outcome, finished_at, stale_at } = store.runs.lastApplied() ?? {};
    if (id && outcome && finished_at && stale_at === null)
      store.runs.finish(id, { outcome, finished_at, stale_at: staleAt(config, Date.parse(finished_at)) });
    return store.runs.interruptRunning(message);
  }, signal);
}
