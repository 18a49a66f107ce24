import type { Config } from '../config/config.ts';
import { DatabaseError, type RunError, toRunError } from '../errors.ts';
import type { Listener } from '../events.ts';
import type { RetryAfter } from '../http/retry-after.ts';
import { findPackage } from '../package.ts';
import type { LoginRecord } from '../service/login.ts';
import type { Session } from '../service/session.ts';
import type { SessionFailure } from '../service/session-backoff.ts';
import { msUntilExpiry } from '../service/token-expiry.ts';
import { withOwnSnapshot } from '../store/connection.ts';
import type { Freshness } from '../store/queries/overview.ts';
import type { Store } from '../store/store.ts';
import type { RunKind } from '../store/tables/runs.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';
import { assess, type HealthInput, STARTING } from './verdict.ts';

/** Settings without secrets. */
export type PublicSettings = Pick<Config, 'baseUrl' | 'scope' | 'database' | 'schedule' | 'profileSchedule'>;

export type MonitorSources = {
  readonly store: Store;
  readonly session: Session;
  readonly retryAfter: RetryAfter;
};

export type Monitor = ReturnType<typeof createMonitor>;

/** Reads from a snapshot of the database. Throws a DatabaseError if the database cannot be read. */
export type Read = <T>(work: Parameters<typeof withOwnSnapshot<T>>[1]) => T;

/** A text in parts, of which every second one is a command, as it must be typed for the database at this path. */
type SplitCommands = (text: string, path: string) => readonly string[];

/** What the worker is and does; a plain value, read once for each request. Timestamps are in ms. */
export type State = ReturnType<Monitor['state']>;

/** Follows the events of the worker. `isStale` is its one judgement of staleness; true without a good poll. */
export function createMonitor(settings: PublicSettings, clock: Clock, splitCommands: SplitCommands = (text) => [text]) {
  const fixed = { settings, version: findPackage().version, startedAt: clock.now() };
  let sources: MonitorSources | undefined;
  /** The last good poll of the leagues. */
  let success: Success | undefined;
  let failures = 0;
  /** When the last good poll of the profile ended. */
  let lastProfileAt: number | undefined;
  /** The error of the last poll of the leagues, if it failed. */
  let lastFailure: RunError | undefined;
  let running: RunKind | undefined;
  let lastLogin: LoginRecord | undefined;
  /** How far the service's clock was ahead at the last login whose response had a `Date` header. */
  let clockSkewMs: number | undefined;
  /** The id of the database. */
  let source: string | undefined;
  /** The last known rows. */
  let stored: Stored = { freshness: undefined, attention: [], outputs: [] };

  const open = (opened: MonitorSources): void => {
    const { store } = opened;
    sources = opened;
    source = store.read(store.identity.id);
    const { consecutive_failures, last_success_at, stale_at } = store.read(store.freshness);
    failures = consecutive_failures;
    if (last_success_at !== null) success = readSuccess(last_success_at, stale_at, clock);
    const profileAt = store.read(() => store.runs.lastProfile())?.finished_at;
    if (profileAt) lastProfileAt = Date.parse(profileAt);
  };

  const onEvent: Listener = (event) => {
    if (event.type === 'runStarted') running = event.kind;
    if (event.type === 'runEnded') running = undefined;
    if (event.type === 'login') {
      lastLogin = event.login;
      clockSkewMs = event.login.clockSkewMs ?? clockSkewMs;
    }
    if (event.type !== 'runEnded' || event.report.outcome === 'interrupted') return;
    const { kind, outcome, error, finishedAt, staleAt = null } = event.report;
    if (kind === 'profile') lastProfileAt = finishedAt === undefined ? lastProfileAt : Date.parse(finishedAt);
    else {
      if (finishedAt !== undefined) success = readSuccess(finishedAt, staleAt, clock, true);
      lastFailure = error;
      failures = outcome === 'failed' ? failures + 1 : 0;
    }
  };

  const state = () => {
    const { store, session, retryAfter } = sources ?? {};
    let readFault: string | undefined;
    try {
      if (store !== undefined) stored = readStored(requireFiles(store));
    } catch (error) {
      // If polls fail as well, the verdict says why.
      readFault = toRunError(error).message;
    }
    const failure = session?.failure();
    const last = success && {
      at: success.at,
      ageMs: Math.max(clock.now() - success.at, clock.monotonic() - success.monotonicAt),
    };
    const never = failures === 0 ? 'loading' : 'never';
    const staleness: HealthInput['staleness'] = last === undefined ? never : isStale() ? last : undefined;
    // The view knows the wall clock only, which may have been set back or forth.
    const attention = stored.attention.filter(({ what }) => what !== 'stale' || staleness !== undefined);
    const rows = { ...stored, attention };
    const input = { ...rows, staleness, refused: findRefusal(failure, lastFailure, lastLogin) };
    return {
      ...fixed,
      now: clock.now(),
      verdict: store === undefined ? STARTING : assess({ ...input, databaseFault: findFault(store, lastFailure) }),
      splitCommands: (text: string) => splitCommands(text, store?.path ?? settings.database),
      /** With symbolic links resolved; undefined until the database is open. */
      path: store?.path,
      ...rows,
      /** Why these rows are not those of this moment. */
      readFault,
      /** The end of the last good poll of the leagues, and the age of its data. */
      success: last,
      ...{ lastProfileAt, running, lastLogin, clockSkewMs },
      consecutiveFailures: sources && failures,
      /** When the current Retry-After ends; 0 if there is none. */
      pausedUntil: retryAfter?.until() ?? 0,
      token: session && readToken(session, clock),
      /** What keeps the session from being tried before a wait ends. */
      failure,
      /** Whether that keeps the leagues from being polled now. */
      isBlocked: session?.blockedBy('leagues') !== undefined,
    };
  };

  const isStale = (): boolean =>
    success === undefined || clock.now() >= success.staleAt || clock.monotonic() >= success.monotonicStaleAt;

  /** How true the data is, for the answers in JSON. */
  const provenance = () => ({
    source: source ?? null,
    as_of: success === undefined ? null : formatTimestamp(success.at),
    stale_at:
      success === undefined || success.staleAt === Number.POSITIVE_INFINITY ? null : formatTimestamp(success.staleAt),
    up_to_date: !isStale(),
  });

  /** Opens its own connection. Throws if the worker's files are gone, since another database may be at their path. */
  const read: Read = (work) => {
    if (sources === undefined) throw new DatabaseError('The database is not open yet.');
    return withOwnSnapshot(requireFiles(sources.store).path, work);
  };

  return { open, onEvent, isStale, state, provenance, read };
}

/** An open file that was deleted or replaced can still be read, but is not what is there now. */
function requireFiles(store: Store): Store {
  const found = store.writeError();
  if (found?.gone) throw found;
  return store;
}

/** `at` and `staleAt` are by the wall clock, the others by the monotonic clock. */
type Success = ReturnType<typeof readSuccess>;

/** The monotonic clock counts, too: setting the clock back makes no data younger. Views know only the wall clock. */
function readSuccess(finishedAt: string, staleAtText: string | null, clock: Clock, hasJustEnded = false) {
  const [now, monotonic] = [clock.now(), clock.monotonic()];
  const at = Date.parse(finishedAt);
  const staleAt = staleAtText === null ? Number.POSITIVE_INFINITY : Date.parse(staleAtText);
  // If the clock was set back after the poll, both timestamps lie in the future; if before it, only its end does, which
  // is never earlier than the one before.
  const leftMs = staleAt - (!hasJustEnded && at > now && staleAt > at ? at : now);
  return { at, staleAt, monotonicAt: monotonic - Math.max(0, now - at), monotonicStaleAt: monotonic + leftMs };
}

type Stored = Omit<ReturnType<typeof readStored>, 'freshness'> & { readonly freshness: Freshness | undefined };

function readStored({ read, freshness, attention, outputStatus }: Store) {
  return read(() => ({ freshness: freshness(), attention: attention(), outputs: outputStatus() }));
}

/** `writeError` reports locked, deleted and replaced files. Other database errors count until the next poll ends. */
function findFault({ writeError }: Store, lastFailure: RunError | undefined): HealthInput['databaseFault'] {
  const lastDatabaseFault = lastFailure instanceof DatabaseError ? lastFailure : undefined;
  return writeError() ?? (lastDatabaseFault?.busy || lastDatabaseFault?.gone ? undefined : lastDatabaseFault);
}

/** Ignores a forbidden profile, and ignores an unreadable secret file until a poll fails because of it. */
function findRefusal(
  failure: SessionFailure | undefined,
  lastFailure: RunError | undefined,
  lastLogin: LoginRecord | undefined,
): HealthInput['refused'] {
  const isOfLeagues = failure?.subject !== 'profile' && failure?.error.httpStatus !== undefined;
  // A poll that failed because of the database says nothing about the credentials.
  const refusal = lastFailure?.kind === 'database' && lastLogin?.outcome === 'refused' ? lastLogin.error : lastFailure;
  const error = isOfLeagues ? failure?.error : refusal;
  if (error?.kind !== 'credentials') return undefined;
  return { message: error.message, byService: error.httpStatus !== undefined };
}

function readToken(session: Session, clock: Clock) {
  const token = session.current();
  if (token === undefined) return undefined;
  const { expiresAt, clockSkewMs } = token;
  /** Undefined if the expiry is unknown. */
  const leftMs = msUntilExpiry(token, clock);
  return { expiresAt, clockSkewMs, leftMs, isValid: leftMs === undefined || leftMs > 0 };
}
