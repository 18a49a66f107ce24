import { statSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { ERROR_KINDS } from '../errors.ts';
import type { LoginRecord } from '../service/login.ts';
import type { RunKind } from '../store/tables/runs.ts';
import type { Listener } from '../sync/events.ts';
import type { RunReport } from '../sync/report.ts';
import type { Monitor } from './monitor.ts';
import { REASONS } from './verdict.ts';

/** The metrics in Prometheus' text format. Counters begin anew with the process, as those who read them expect. */
export type Metrics = {
  readonly contentType: string;
  readonly render: () => Promise<string>;
  /** Counts runs and logins. */
  readonly note: Listener;
};

const KINDS: readonly RunKind[] = ['leagues', 'profile'];
const OUTCOMES: readonly RunReport['outcome'][] = ['changed', 'unchanged', 'held', 'failed', 'interrupted'];
const LOGIN_OUTCOMES: readonly LoginRecord['outcome'][] = ['ok', 'refused', 'failed'];
const CHANGES = ['added', 'changed', 'restored', 'removed'] as const;

/** From a service on the same machine to a run whose time is up (2 min, unless it is set). */
const BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/**
 * What of the library's own metrics is served. The event loop is left out, since watching it wakes an idle worker a
 * hundred times a second; garbage collections, since the library counts only some of them; handles and requests, since
 * their names are none that promtool accepts; what it calls the heap on Linux, since that is reserved, not used.
 */
const PROCESS_METRICS = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
  'nodejs_version_info',
];
/** What the library watches can be made rare, but not be left out: as rarely as its timers can. */
const NEVER_MS = 2 ** 31 - 1;

export function createMetrics(monitor: Monitor): Metrics {
  const registry = new Registry();
  addGauges(registry, monitor);
  const note = createCounting(registry);
  addProcess(registry);
  return { contentType: registry.contentType, render: () => registry.metrics(), note };
}

/** One value, or one for each value of a label; what is undefined is left out. */
type Read = () => number | undefined | Readonly<Record<string, number | undefined>>;

/** What is looked up at each scrape: from memory, but for the sizes of the files. */
function addGauges(registry: Registry, monitor: Monitor): void {
  const { version, schedule, profileSchedule } = monitor.settings;
  const add = (name: string, help: string, read: Read, label?: string): void =>
    addGauge(registry, { name: `league_sync_${name}`, help, read, label });

  add('build_info', 'Which version this is; always 1.', () => ({ [version]: 1 }), 'version');
  add(
    'last_success_timestamp_seconds',
    'When the leagues or the profile were last brought up to date; absent where they never were.',
    () => ({ leagues: seconds(monitor.lastSuccessAt('leagues')), profile: seconds(monitor.lastSuccessAt('profile')) }),
    'kind',
  );
  const nextProfile = (): number | undefined => (profileSchedule === 'off' ? undefined : profileSchedule.nextSlot());
  add(
    'next_slot_timestamp_seconds',
    'When the schedule has its next slot.',
    () => ({ leagues: seconds(schedule.nextSlot()), profile: seconds(nextProfile()) }),
    'kind',
  );
  add(
    'not_ready',
    'Whether this reason keeps the worker from being ready (1) or not (0), as /readyz says.',
    () => {
      const present = new Set(monitor.verdict().reasons.map(({ reason }) => reason));
      return Object.fromEntries(REASONS.map((reason) => [reason, present.has(reason) ? 1 : 0]));
    },
    'reason',
  );
  add('consecutive_failures', 'Polls of the leagues that failed since the last good one.', () =>
    monitor.consecutiveFailures(),
  );
  add(
    'leagues',
    'Leagues in the database: listed by the service (live), or no longer (removed).',
    () => ({ live: monitor.counts()?.live_leagues, removed: monitor.counts()?.removed_leagues }),
    'state',
  );
  add(
    'held_removals',
    'Removals that are held; accepted ones count until the next poll applies them.',
    () => monitor.counts()?.held_removals,
  );
  add(
    'rejected_leagues',
    'Different elements of the last list that cannot be stored.',
    () => monitor.counts()?.open_rejections,
  );
  add(
    'token_expiry_timestamp_seconds',
    'When the token expires, by the clock of the service; absent without a token, or where none is said.',
    () => seconds(monitor.present()?.token?.expiresAt),
  );
  add('clock_skew_seconds', 'How far the clock of the service was ahead of this one at the last login that told.', () =>
    seconds(monitor.clockSkewMs()),
  );
  add('database_bytes', 'Size of the database file, without the log beside it.', () => sizeOf(monitor.path()));
  add('database_wal_bytes', 'Size of the write-ahead log beside the database.', () => {
    const path = monitor.path();
    return path === undefined ? undefined : (sizeOf(`${path}-wal`) ?? 0);
  });
}

type GaugeOptions = {
  readonly name: string;
  readonly help: string;
  readonly read: Read;
  readonly label?: string | undefined;
};

function addGauge(registry: Registry, { name, help, read, label }: GaugeOptions): void {
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      const found = read();
      const values = typeof found === 'object' ? Object.entries(found) : [['', found] as const];
      for (const [key, value] of values) {
        const labels: Record<string, string> = label === undefined ? {} : { [label]: key };
        if (value === undefined) this.remove(labels);
        else this.set(labels, value);
      }
    },
  });
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

/** Undefined if there is no such file, or if it cannot be looked at. */
function sizeOf(path: string | undefined): number | undefined {
  if (path === undefined) return undefined;
  try {
    return statSync(path, { throwIfNoEntry: false })?.size;
  } catch {
    return undefined;
  }
}

/** Every counter begins with 0 for each value of its labels: the first failure of all must be seen as one more. */
function createCounting(registry: Registry): Listener {
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
    new Counter({ name: `league_sync_${name}`, help, labelNames, registers: [registry] });
  const runs = counter('runs_total', 'Runs that have ended, by kind and outcome.', 'kind', 'outcome');
  const failures = counter(
    'run_failures_total',
    'Runs that have failed, by kind and by what they are filed under.',
    'kind',
    'error_kind',
  );
  const changes = counter('league_changes_total', 'Changes of leagues, as in the change feed.', 'change');
  const logins = counter('logins_total', 'Logins that were sent, by outcome.', 'outcome');
  const durations = new Histogram({
    name: 'league_sync_run_duration_seconds',
    help: 'How long runs took, retries included.',
    labelNames: ['kind'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  for (const kind of KINDS) {
    for (const outcome of OUTCOMES) runs.inc({ kind, outcome }, 0);
    for (const error_kind of ERROR_KINDS) failures.inc({ kind, error_kind }, 0);
    durations.zero({ kind });
  }
  for (const change of CHANGES) changes.inc({ change }, 0);
  for (const outcome of LOGIN_OUTCOMES) logins.inc({ outcome }, 0);

  return (event) => {
    if (event.type === 'login') logins.inc({ outcome: event.login.outcome });
    if (event.type !== 'runEnded') return;
    const { kind, outcome, durationMs, counts, error } = event.report;
    runs.inc({ kind, outcome });
    durations.observe({ kind }, durationMs / 1_000);
    if (outcome === 'failed' && error !== undefined) failures.inc({ kind, error_kind: error.kind });
    if (kind === 'leagues') for (const change of CHANGES) changes.inc({ change }, counts[change]);
  };
}

function addProcess(registry: Registry): void {
  const all = new Registry();
  collectDefaultMetrics({
    register: all,
    eventLoopUtilizationTimeout: NEVER_MS,
    eventLoopMonitoringPrecision: NEVER_MS,
  });
  for (const name of PROCESS_METRICS) {
    // Some are known on Linux alone.
    const metric = all.getSingleMetric(name);
    if (metric !== undefined) registry.registerMetric(metric);
  }
}
