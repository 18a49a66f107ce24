import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { ERROR_KINDS } from '../errors.ts';
import type { LoginRecord } from '../service/login.ts';
import type { RunKind } from '../store/tables/runs.ts';
import type { Listener } from '../sync/events.ts';
import type { RunReport } from '../sync/report.ts';
import { type GaugeSource, gaugesOf } from './gauges.ts';
import type { Monitor } from './monitor.ts';

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
  for (const source of gaugesOf(monitor)) addGauge(registry, source);
  const note = createCounting(registry);
  addProcess(registry);
  return { contentType: registry.contentType, render: () => registry.metrics(), note };
}

function addGauge(registry: Registry, source: GaugeSource): void {
  const { name, help } = source;
  const common = { name, help, registers: [registry] };
  if ('read' in source) {
    new Gauge({
      ...common,
      collect() {
        const value = source.read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
    return;
  }
  const { label, readAll } = source;
  new Gauge({
    ...common,
    labelNames: [label],
    collect() {
      for (const [name, value] of Object.entries(readAll())) {
        if (value === undefined) this.remove(name);
        else this.set({ [label]: name }, value);
      }
    },
  });
}

/** Every counter begins with 0 for each value of its labels: the first failure of all must be seen as one more. */
function createCounting(registry: Registry): Listener {
  const registers = [registry];
  const runs = new Counter({
    name: 'league_sync_runs_total',
    help: 'Runs that have ended, by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const failures = new Counter({
    name: 'league_sync_run_failures_total',
    help: 'Runs that have failed, by kind and by what they are filed under.',
    labelNames: ['kind', 'error_kind'],
    registers,
  });
  const durations = new Histogram({
    name: 'league_sync_run_duration_seconds',
    help: 'How long runs took, retries included.',
    labelNames: ['kind'],
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const changes = new Counter({
    name: 'league_sync_league_changes_total',
    help: 'Changes of leagues, as in the change feed.',
    labelNames: ['change'],
    registers,
  });
  const logins = new Counter({
    name: 'league_sync_logins_total',
    help: 'Logins that were sent, by outcome.',
    labelNames: ['outcome'],
    registers,
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
