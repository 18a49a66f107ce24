import type { Config } from '../config/config.ts';
import { describeProxy } from '../config/proxy.ts';
import { formatProblem } from '../errors.ts';
import { createEvents, type Listener } from '../events.ts';
import type { Log } from '../log.ts';
import { createMirrorOutput } from '../mirror/output.ts';
import type { RunMirror } from '../mirror/process.ts';
import { openHeartbeat } from '../observe/heartbeat.ts';
import type { Serve } from '../observe/serve.ts';
import { createMonitor } from '../observe/worker-state.ts';
import { openFollower } from '../outputs/output-loop.ts';
import type { CloseResult } from '../store/store.ts';
import type { RunKind } from '../store/tables/runs.ts';
import { pollLeagues, pollProfile } from '../sync/poll.ts';
import type { RunDeps } from '../sync/run.ts';
import type { AdvisedDatabase } from '../terminal/advice.ts';
import { plural } from '../terminal/text.ts';
import { formatSecond, formatTimestamp } from '../time/clock.ts';
import type { Schedule } from '../time/next-cron-time.ts';
import { openDelivery } from '../webhook/delivery.ts';
import { createDatabaseTick } from './database-tick.ts';
import { type OpenOptions, openWorker, type WorkerResources } from './open-resources.ts';
import { createRetention } from './retention.ts';
import { createWorkerLog, logClosed } from './run-log.ts';
import { createRunQueue, type RunQueue } from './run-queue.ts';
import { type Due, runScheduler } from './scheduler.ts';
import { createWalWatch } from './wal-watch.ts';

export type WorkerOptions = Pick<OpenOptions, 'system' | 'log' | 'pid' | 'signal' | 'copy'> & {
  readonly mirror: RunMirror;
  readonly serve: Serve;
  /** A text in parts, of which every second one is a command, as it must be typed; by default all of it is one part. */
  readonly splitCommands?: (text: string, database: AdvisedDatabase) => readonly string[];
  /** Registers the handler of SIGHUP. */
  readonly onPollNow: (pollNow: () => void) => void;
  readonly demo?: {
    /** Deletes the database of an earlier demo. Called with the lock held, before the database is opened. */
    readonly prepare: () => void;
    /** Called with the address of the status page as soon as that can be opened. */
    readonly onPage: (url: string) => void;
    readonly note: Listener;
  };
};

/** If the last successful poll is younger than this, the worker starts without a poll, to spare the service. */
const FRESH_MS = 30_000;
/** How long copying may go on after a stop. */
const COPY_GRACE_MS = 3_000;

/** Keeps a token and polls until the signal aborts. Rejects if it cannot start. */
export async function runWorker(config: Config, options: WorkerOptions): Promise<void> {
  const { log, signal } = options;
  let closed: CloseResult | undefined;
  const onStop = (): void => log.info('stopping: finishing the current work');
  signal.addEventListener('abort', onStop, { once: true });
  try {
    await work(config, options, (result) => {
      closed = result;
    });
  } catch (error) {
    // The signal's reason means that the worker was stopped while it started, which is not an error.
    if (!signal.aborted || error !== signal.reason) throw error;
  } finally {
    signal.removeEventListener('abort', onStop);
  }
  logClosed(log, closed);
}

async function work(config: Config, options: WorkerOptions, onClosed: (result: CloseResult) => void): Promise<void> {
  const { log, signal, demo, system, splitCommands = (text) => [text] } = options;
  const { clock } = system;
  const events = createEvents(log);
  const monitor = createMonitor(config, clock, (text, path) =>
    splitCommands(text, { option: path, isDemo: demo !== undefined }),
  );
  // Opened first and therefore disposed last: its wait for a pending request must not delay closing the database.
  await using heartbeat = openHeartbeat(config, { ...system, log });
  await using resources = await openWorker(config, {
    ...options,
    command: demo === undefined ? 'run' : 'demo',
    firstReason: 'start',
    isDemo: demo !== undefined,
    onLocked: async () => {
      demo?.prepare();
      const server = await options.serve(config, { monitor, events, log, stop: signal });
      if (server !== undefined) demo?.onPage(server.url);
      return server;
    },
    emit: events.emit,
    onClosed,
  });
  const { copy, deps, store, session } = resources;
  const queue = createQueue(resources, options);
  monitor.open(resources);
  const { webhook: source } = config;
  const { isStale } = monitor;
  const delivery =
    source && (await openDelivery({ ...system, store, log, source, isStale, emit: events.emit }, signal));
  const mirror = await openMirror(config, resources, options);
  const workerLog = createWorkerLog(log, clock, deps.scrub);
  events.subscribe(workerLog, demo?.note, heartbeat?.onEvent, monitor.onEvent, createWalWatch(store, log));
  events.subscribe(copy?.onEvent, delivery?.onEvent, mirror?.onEvent);
  const pollNow = (asker: string): void => {
    for (const waiting of [session, delivery, mirror]) waiting?.retryNow();
    if (queue.request('leagues', 'manual')) log.info(`${asker}: polling now`);
  };
  options.onPollNow(() => pollNow('SIGHUP'));
  logStart(config, resources, options);
  const jobs = jobsOf(config, queue);
  for (const { kind } of jobs) pollAtStart(kind, deps, queue, log);
  const watchDatabase = createDatabaseTick(store, { clock, log }, () => pollNow('league-sync poll'));
  await using retention = createRetention(config.runRetentionMs, deps, log);
  const renewing = session.keepRenewed(signal);
  const delivering = delivery?.deliver(signal);
  const mirroring = mirror?.follow(signal, signal);
  const [polled, graceOver] = [new AbortController(), new AbortController()];
  const copying = copy?.follow(polled.signal, graceOver.signal);
  const onTick = (): void => {
    watchDatabase();
    queue.resume();
    retention.tick();
  };
  await runScheduler(jobs, { clock, onTick }, signal);
  // What the last poll has changed is still published, if that takes no longer than COPY_GRACE_MS.
  const done = new AbortController();
  clock
    .sleep(COPY_GRACE_MS, done.signal)
    .then(() => graceOver.abort())
    .catch(() => undefined);
  await queue.idle();
  polled.abort();
  await Promise.all([renewing, delivering, mirroring, copying]);
  done.abort();
}

function createQueue({ deps, session, retryAfter }: WorkerResources, { log, signal }: WorkerOptions): RunQueue {
  return createRunQueue({
    poll: {
      leagues: (trigger) => pollLeagues(deps, trigger, signal),
      profile: async (trigger) => (await pollProfile(deps, trigger, signal)).report,
    },
    retryAfter,
    blockedBy: (kind) => session.blockedBy(kind),
    log,
    signal,
  });
}

async function openMirror({ mirror: source }: Config, { store, deps }: WorkerResources, options: WorkerOptions) {
  if (source === undefined) return undefined;
  const output = createMirrorOutput({ store, source, run: options.mirror });
  return openFollower(output, { store, clock: deps.clock, log: options.log }, options.signal);
}

function logStart(config: Config, { store, deps, interrupted }: WorkerResources, { log, pid }: WorkerOptions): void {
  if (interrupted > 0) {
    const runs = plural(interrupted, 'unfinished run');
    log.warn({ runs: interrupted }, `marked ${runs} of an earlier worker as interrupted`);
  }
  for (const warning of config.warnings) log.warn(formatProblem(warning));
  const { baseUrl: service, proxy, schedule, profileSchedule, scope } = config;
  const { expression, label, timezone } = schedule;
  const nextTime = schedule.nextTime(deps.clock.now());
  log.info(
    {
      service,
      proxy: proxy?.label,
      database: store.path,
      schedule: expression,
      profile_schedule: profileSchedule === 'off' ? 'off' : profileSchedule.expression,
      timezone,
      scope,
      next_slot: formatTimestamp(nextTime),
    },
    `worker started (process ${pid}): polls ${service}${describeProxy(proxy)} at ${label} (${timezone}), next at ${formatSecond(nextTime)}, into ${store.path}`,
  );
}

function jobsOf({ schedule, profileSchedule }: Config, queue: RunQueue) {
  const job = (kind: RunKind, schedule: Schedule) => ({
    kind,
    schedule,
    onDue: (due: Due) => queue.request(kind, due),
  });
  return [job('leagues', schedule), ...(profileSchedule === 'off' ? [] : [job('profile', profileSchedule)])];
}

function pollAtStart(kind: RunKind, { store, scope, clock }: RunDeps, queue: RunQueue, log: Log): void {
  const last = store.read(() => (kind === 'leagues' ? store.runs.lastOfScope(scope) : store.runs.lastProfile()));
  if (last === undefined || !isFresh(last, clock.now())) queue.request(kind, 'start');
  else
    log.info(
      { kind, last_success_at: last.finished_at },
      `${kind}: no poll at start: the last good poll was less than 30 s ago`,
    );
}

/** Checks `started_at`, too: `finished_at` never goes back, so it is in the future if the clock was set back. */
export function isFresh(last: { started_at: string; finished_at: string | null }, now: number): boolean {
  const ages = [last.started_at, last.finished_at ?? ''].map((at) => now - Date.parse(at));
  return ages.some((age) => age >= 0 && age < FRESH_MS);
}
