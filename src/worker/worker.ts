import { formatInstant, formatSecond, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { throughProxy } from '../config/proxy.ts';
import { formatFault } from '../errors.ts';
import type { Log } from '../log.ts';
import { Monitor, type Opening, type Refused, type Settings } from '../observe/monitor.ts';
import { findPackage } from '../package.ts';
import type { Refusal } from '../service/backoff.ts';
import { msUntilExpiry } from '../service/token.ts';
import type { CloseResult } from '../store/store.ts';
import type { RunKind } from '../store/tables/runs.ts';
import { createEvents, type Events, type Listener } from '../sync/events.ts';
import { pollLeagues } from '../sync/leagues.ts';
import { pollProfile } from '../sync/profile.ts';
import type { Copy } from './copier.ts';
import { createDatabaseWatch } from './database-watch.ts';
import { openHeartbeat, openObservatory } from './observatory.ts';
import { openWorker, type WorkerResources } from './open.ts';
import { Poller } from './poller.ts';
import { createPruning } from './pruning.ts';
import { type Watched, watchSlots } from './schedule.ts';
import { createWorkerLog, logClosed, logInterrupted } from './worker-log.ts';

export type WorkerOptions = {
  readonly log: Log;
  readonly pid: number;
  /** Aborts with a StoppedError when the worker is to end. */
  readonly signal: AbortSignal;
  /** Registers what to do when an operator asks for a poll at once (SIGHUP). */
  readonly onPollNow: (pollNow: () => void) => void;
  /** Makes the copies that are published, and the one before an upgrade. */
  readonly copy: Copy;
  /** Where the worker is a demo's. */
  readonly demo?: Demo;
};

/** What a demo does beside the worker. */
export type Demo = {
  /** Called under the lock, before anything else: makes room for a new database, which is marked as a demo's. */
  readonly prepare: () => void;
  /** Is told of everything that happens, right after the log. */
  readonly note: Listener;
};

/** Restarts must not hammer the service. */
const FRESH_MS = 30_000;

/**
 * The worker: keeps a valid token, polls on schedule, until the signal aborts. Rejects only where it cannot start (a
 * LockedError, a DatabaseError); whatever happens later is recorded, logged and made up for.
 */
export async function runWorker(config: Config, options: WorkerOptions): Promise<void> {
  const { log, signal } = options;
  const events = createEvents(log);
  let closed: CloseResult | undefined;
  events.subscribe((event) => {
    if (event.type === 'closed') closed = event.result;
  });
  const onStop = (): void => log.info('stopping: finishing the current work');
  signal.addEventListener('abort', onStop, { once: true });
  try {
    await work(config, options, events);
  } catch (error) {
    // Stopped while it waited at its start.
    if (!signal.aborted || error !== signal.reason) throw error;
  } finally {
    signal.removeEventListener('abort', onStop);
  }
  logClosed(log, closed);
}

async function work(config: Config, options: WorkerOptions, events: Events): Promise<void> {
  const { log, pid, signal, copy, demo } = options;
  const monitor = new Monitor(settingsOf(config), systemClock);
  // Disposed of last: the database is closed by then.
  await using heartbeat = openHeartbeat(config, log);
  await using resources = await openWorker(config, {
    log,
    pid,
    signal,
    firstReason: 'start',
    copy,
    isDemo: demo !== undefined,
    onLocked: () => {
      demo?.prepare();
      return openObservatory(config, { monitor, events, log });
    },
    emit: events.emit,
  });
  const { publisher, tools, store, interrupted } = resources;
  const database = createDatabaseWatch(store, log);
  for (const listener of [createWorkerLog(log, systemClock, tools.scrub), demo?.note, heartbeat?.note, publisher?.note])
    if (listener !== undefined) events.subscribe(listener);
  events.subscribe((event) => monitor.note(event));
  events.subscribe(({ type }) => type === 'runEnded' && database.lookAtWal());
  logInterrupted(log, interrupted);

  const poller = pollerOf(resources, monitor, options);
  monitor.open(openingOf(resources, poller));
  announce(config, resources, options);
  pollAtStart(config, resources, poller, log);
  const pruning = createPruning(config, tools, log);
  const keeping = resources.session.keepRenewed(signal);
  const onLook = (): void => {
    database.look();
    poller.resume();
    publisher?.look();
    pruning.look();
  };
  await watchSlots(schedulesOf(config, poller), { clock: tools.clock, onLook }, signal);
  await Promise.all([poller.idle(), keeping, pruning.idle()]);
}

/** Makes the runs, those on SIGHUP included. */
function pollerOf({ tools, session, retryAfter }: WorkerResources, monitor: Monitor, options: WorkerOptions): Poller {
  const { log, signal, onPollNow } = options;
  const poller = new Poller({
    poll: {
      leagues: (trigger) => pollLeagues(tools, trigger, signal),
      profile: async (trigger) => (await pollProfile(tools, trigger, signal)).report,
    },
    pause: retryAfter,
    objection: (kind) => session.blockedBy(kind),
    isFirstLoad: () => monitor.lastSuccess() === undefined,
    log,
    signal,
  });
  onPollNow(() => {
    session.retryNow();
    if (poller.request('leagues', 'manual')) log.info('SIGHUP: polling now');
  });
  return poller;
}

/** What may be shown of the settings: no credentials, no address of the heartbeat. */
function settingsOf(config: Config): Settings {
  const { baseUrl: service, scope, database, schedule, profileSchedule, runTimeoutMs, staleAfterMs } = config;
  const { version } = findPackage();
  return { version, service, scope, database, schedule, profileSchedule, runTimeoutMs, staleAfterMs };
}

function instantOf(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : Date.parse(text);
}

function describeRefusal({ error, until, resource }: Refusal): Refused {
  return { message: error.message, until, resource, byService: error.httpStatus !== undefined };
}

/** What the page, the probes and the metrics are to know. */
function openingOf({ store, session, retryAfter, tools }: WorkerResources, poller: Poller): Opening {
  // Of whatever scope, as the view that everybody asks.
  const { last_success_at, consecutive_failures } = store.read(store.freshness);
  const lastProfile = store.read(() => store.runs.lastSuccess('profile', null));
  return {
    lastSuccessAt: instantOf(last_success_at),
    lastProfileAt: instantOf(lastProfile?.finished_at),
    consecutiveFailures: consecutive_failures,
    path: store.path,
    count: () => store.read(store.freshness),
    fault: store.fault,
    present: () => {
      const [token, refusal] = [session.current(), session.refusal()];
      return {
        running: poller.running(),
        pausedUntil: retryAfter.until(),
        token: token && {
          expiresAt: token.expiresAt,
          clockSkewMs: token.clockSkewMs,
          leftMs: msUntilExpiry(token, tools.clock),
        },
        refusal: refusal && describeRefusal(refusal),
      };
    },
  };
}

function announce(config: Config, { store }: WorkerResources, { log, pid }: WorkerOptions): void {
  for (const warning of config.warnings) log.warn(formatFault(warning));
  const { baseUrl: service, proxy, schedule, profileSchedule, scope } = config;
  const { expression, timezone } = schedule;
  const profile = profileSchedule === 'off' ? 'off' : profileSchedule.expression;
  const nextSlot = schedule.nextSlot();
  log.info(
    {
      service,
      proxy: proxy?.label,
      database: store.path,
      schedule: expression,
      profile_schedule: profile,
      timezone,
      scope,
      next_slot: formatInstant(nextSlot),
    },
    `worker started (process ${pid}): polls ${service}${throughProxy(proxy)} at "${expression}" (${timezone}), next at ${formatSecond(nextSlot)}, into ${store.path}`,
  );
}

function schedulesOf({ schedule, profileSchedule }: Config, poller: Poller): readonly Watched[] {
  const leagues: Watched = { schedule, onDue: (due) => poller.request('leagues', due) };
  if (profileSchedule === 'off') return [leagues];
  return [leagues, { schedule: profileSchedule, onDue: (due) => poller.request('profile', due) }];
}

function pollAtStart(
  { scope, profileSchedule }: Config,
  { store, tools }: WorkerResources,
  poller: Poller,
  log: Log,
): void {
  const start = (kind: RunKind, last: ReturnType<typeof store.runs.lastSuccess>): void => {
    if (last === undefined || !isFresh(last, tools.clock.now())) poller.request(kind, 'start');
    else
      log.info(
        { kind, last_success_at: last.finished_at },
        `${kind}: no poll at start: the last good one is seconds old`,
      );
  };
  const last = (kind: RunKind) => store.read(() => store.runs.lastSuccess(kind, kind === 'leagues' ? scope : null));
  start('leagues', last('leagues'));
  if (profileSchedule !== 'off') start('profile', last('profile'));
}

/**
 * Whether a list is young enough to start with. A run whose end lies in the future, since the clock was set back, is as
 * old as its start says.
 */
export function isFresh(
  { started_at, finished_at }: { readonly started_at: string; readonly finished_at: string | null },
  now: number,
): boolean {
  const ages = [started_at, finished_at ?? started_at].map((at) => now - Date.parse(at));
  return ages.some((age) => age >= 0 && age < FRESH_MS);
}
