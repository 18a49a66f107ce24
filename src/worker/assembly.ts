import { hash } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, formatInstant, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { createDriftLog, type DriftLog } from '../drift.ts';
import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { findPackage } from '../package.ts';
import { createSecrets } from '../secret.ts';
import { type Client, createClient } from '../service/client.ts';
import { createLogIn, type LoginReason, type LoginRecord } from '../service/login.ts';
import { createPause, type Pause, respectPause } from '../service/pause.ts';
import { createSession, type Session } from '../service/session.ts';
import { createTransport } from '../service/transport.ts';
import { acquireLock } from '../store/lock.ts';
import { prepareFolder } from '../store/open.ts';
import { openStore, type Store } from '../store/store.ts';
import { type RunTools, whenFree } from '../sync/run.ts';

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
  /** Instant (ms) until which the service asked to be left alone, as far as earlier runs know. */
  readonly pausedUntil: number;
  readonly record: (login: LoginRecord) => void;
};

/** Builds the service side from the settings. Nothing is sent yet. */
export function assembleService(config: Config, options: ServiceOptions): ServiceSide {
  const clock = systemClock;
  const random = Math.random;
  const secrets = createSecrets();
  const drift = createDriftLog();
  const pause = createPause(clock, options.pausedUntil);
  const plain = createTransport({ ...config, userAgent: `league-sync/${findPackage().version}` });
  const transport = respectPause(plain, pause, clock);
  const { credentials } = config;
  const logIn = createLogIn({ transport, credentials, secrets, drift, clock, random, record: options.record });
  const session = createSession({
    logIn,
    credentials,
    clock,
    random,
    leewayMs: config.loginLeewayMs,
    firstReason: options.firstReason,
    loginTimeoutMs: config.runTimeoutMs,
    signal: options.signal,
  });
  const client = createClient({ transport, session, secrets, clock, random });
  return { client, session, pause, drift, clock, [Symbol.asyncDispose]: () => plain[Symbol.asyncDispose]() };
}

/** Everything that a worker, or a command that works as one, holds: the lock, the database, the session. */
export type Workplace = AsyncDisposable & {
  readonly tools: RunTools;
  readonly store: Store;
  readonly session: Session;
  readonly pause: Pause;
  /** Runs that an earlier worker left unfinished, now marked `interrupted`. */
  readonly interrupted: number;
};

export type WorkplaceOptions = {
  readonly log: Log;
  readonly pid: number;
  readonly firstReason: LoginReason;
  readonly signal: AbortSignal;
  /** Called after each login that the service granted. */
  readonly onLogin?: () => void;
};

/**
 * Takes the lock, opens the database and builds the service side. Throws a LockedError or a DatabaseError. Disposing
 * ends it all in the opposite order and leaves one file that read-only tools can open.
 */
export async function openWorkplace(config: Config, options: WorkplaceOptions): Promise<Workplace> {
  await using stack = new AsyncDisposableStack();
  const clock = systemClock;
  const path = prepareFolder(config.database);
  stack.use(acquireLock(path, { pid: options.pid, host: hostname(), since: formatInstant(clock.now()) }));
  const { version, migrations } = findPackage();
  const store = stack.use(openStore(path, { migrations, now: clock.now }));
  const interrupted = await whenFree(() => markInterrupted(store, clock), clock, options.signal);

  const fingerprint = fingerprintOf(config);
  const journal = stack.use(createLoginJournal(store, clock, options));
  const service = stack.use(
    assembleService(config, {
      firstReason: options.firstReason,
      signal: options.signal,
      pausedUntil: Date.parse(store.runs.lastNotBefore(fingerprint) ?? formatInstant(0)),
      record: journal.record,
    }),
  );
  const { client, session, pause, drift } = service;
  const { scope, removalLimit, runTimeoutMs } = config;
  const tools = {
    store,
    client,
    drift,
    clock,
    scope,
    removalLimit,
    runTimeoutMs,
    fingerprint,
    programVersion: version,
  };
  const held = stack.move();
  return { tools, store, session, pause, interrupted, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** Tells services and accounts apart in `runs`, without naming either. */
export function fingerprintOf({ baseUrl, credentials }: Config): string {
  return hash('sha256', `${baseUrl}\n${usernameOf(credentials)}`, 'base64url');
}

function usernameOf(credentials: Config['credentials']): string {
  try {
    return credentials.read().username;
  } catch {
    return '';
  }
}

function markInterrupted(store: Store, clock: Clock): number {
  const message = `The worker ended during this run (killed, crashed, or without power); found at the start on ${formatInstant(clock.now())}.`;
  return store.transaction(() => store.runs.interruptRunning(message));
}

type LoginJournal = AsyncDisposable & { readonly record: (login: LoginRecord) => void };

/** Writes logins to the database and the log, one after the other, without making a login wait for the disk. */
function createLoginJournal(store: Store, clock: Clock, { log, onLogin }: WorkplaceOptions): LoginJournal {
  let writing: Promise<void> = Promise.resolve();
  const write = async (login: LoginRecord): Promise<void> => {
    try {
      await whenFree(() => store.transaction(() => store.logins.add(rowOf(login))), clock, undefined);
    } catch (error) {
      log.error({ err: toRunError(error) }, 'a login could not be recorded');
    }
  };
  return {
    record: (login) => {
      writing = writing.then(() => write(login));
      const { at: _, outcome, reason, errorMessage } = login;
      const line = { reason, outcome, expiresAt: instantOf(login.expiresAt), clockSkewMs: login.clockSkewMs };
      if (outcome === 'ok')
        log.info(line, `logged in (${reason}); the token expires ${line.expiresAt ?? 'at an unknown time'}`);
      else log.warn(line, `login ${outcome}: ${errorMessage ?? ''}`);
      if (outcome === 'ok') onLogin?.();
    },
    [Symbol.asyncDispose]: () => writing,
  };
}

function rowOf({ at, outcome, reason, expiresAt, clockSkewMs, errorMessage }: LoginRecord) {
  return {
    at: formatInstant(at),
    outcome,
    reason,
    expires_at: instantOf(expiresAt) ?? null,
    clock_skew_ms: clockSkewMs ?? null,
    error_message: errorMessage ?? null,
  };
}

function instantOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatInstant(ms);
}
