import { statSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { ERROR_KINDS } from '../errors.ts';
import type { Listener } from '../events.ts';
import type { LoginRecord } from '../service/login.ts';
import type { OutputName } from '../store/tables/outputs.ts';
import type { RunKind } from '../store/tables/runs.ts';
import type { RunReport } from '../sync/report.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { REASONS } from './verdict.ts';
import type { Monitor, State } from './worker-state.ts';

const KINDS: readonly RunKind[] = ['leagues', 'profile'];
const OUTCOMES: readonly RunReport['outcome'][] = ['changed', 'unchanged', 'held', 'failed', 'interrupted'];
const LOGIN_OUTCOMES: readonly LoginRecord['outcome'][] = ['ok', 'refused', 'failed'];
const ATTEMPT_OUTCOMES = ['accepted', 'failed', 'gone'] as const;
const CHANGES = ['added', 'changed', 'restored', 'removed'] as const;

/** The buckets range from runs against a service on the same machine to runs that time out (by default after 2 min). */
const BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/**
 * Selects the default metrics of the library that are exported. Omits the event loop (measuring it would wake an idle
 * worker a hundred times a second), garbage collections (the library counts only some), handles, resources and requests
 * (promtool rejects their names), heap spaces, and `process_heap_bytes` (on Linux, it measures reserved memory).
 */
const PROCESS_METRICS = /^process_(?!heap_)|^nodejs_(heap_size|external_memory|version)_/;
/** The longest interval (ms) of a timer. The library's timers cannot be switched off, but can be made this slow. */
const NEVER_MS = 2 ** 31 - 1;

/** `render` resolves with all metrics in the text format of Prometheus; `onEvent` counts runs, changes and logins. */
export function createMetrics(monitor: Monitor) {
  const registry = new Registry();
  let state = monitor.state();
  const gauge = createGauges(registry, () => state);
  addPolls(gauge);
  addStored(gauge);
  const onEvent = createCounters(registry);
  addProcess(registry);
  const render = (): Promise<string> => {
    state = monitor.state();
    return registry.metrics();
  };
  return { contentType: registry.contentType, render, onEvent };
}

/** Returns a number, or a number for each value of the label. Undefined in place of a number is not exported. */
type Read = (state: State) => number | undefined | Readonly<Record<string, number | undefined>>;

type AddGauge = ReturnType<typeof createGauges>;

function createGauges(registry: Registry, state: () => State) {
  return (name: string, help: string, read: Read, label?: string): void => {
    new Gauge({
      name: `league_sync_${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      collect() {
        const found = read(state());
        const values = typeof found === 'object' ? Object.entries(found) : [['', found] as const];
        for (const [key, value] of values) {
          const labels: Record<string, string> = label === undefined ? {} : { [label]: key };
          if (value === undefined) this.remove(labels);
          else this.set(labels, value);
        }
      },
    });
  };
}

function addPolls(gauge: AddGauge): void {
  const successes: Read = ({ success, lastProfileAt: profileAt }) => ({
    leagues: seconds(success?.at),
    profile: seconds(profileAt),
  });
  const nextRuns: Read = ({ now, settings: { schedule, profileSchedule: profile } }) => ({
    leagues: seconds(schedule.nextTime(now)),
    profile: profile === 'off' ? undefined : seconds(profile.nextTime(now)),
  });
  const reasons: Read = ({ verdict }) =>
    Object.fromEntries(REASONS.map((reason) => [reason, +verdict.reasons.some((found) => found.reason === reason)]));
  gauge('build_info', 'Which version this is; always 1.', ({ version }) => ({ [version]: 1 }), 'version');
  gauge('last_success_timestamp_seconds', 'When the last good poll ended; absent if none did.', successes, 'kind');
  gauge('next_slot_timestamp_seconds', 'When the next scheduled run is due.', nextRuns, 'kind');
  gauge('not_ready', 'Whether this reason keeps the worker from being ready (1) or not (0).', reasons, 'reason');
  const failing: Read = ({ consecutiveFailures }) => consecutiveFailures;
  gauge('consecutive_failures', 'Polls of the leagues that failed since the last good one.', failing);
}

function addStored(gauge: AddGauge): void {
  const leagues: Read = ({ freshness: counts }) => ({ live: counts?.live_leagues, removed: counts?.removed_leagues });
  const rejected: Read = ({ freshness }) => freshness?.open_rejections;
  const expiry: Read = ({ token }) => seconds(token?.expiresAt);
  const skew: Read = ({ clockSkewMs }) => seconds(clockSkewMs);
  const walBytes: Read = ({ path }) => (path === undefined ? undefined : (bytesOf(`${path}-wal`) ?? 0));
  gauge('leagues', 'Leagues that the service lists (live), and those that left its list (removed).', leagues, 'state');
  gauge(
    'held_removals',
    'Removals that are held, accepted ones included.',
    ({ freshness }) => freshness?.held_removals,
  );
  gauge('rejected_leagues', 'Different list elements that cannot be stored.', rejected);
  const output = ({ outputs }: State, name: OutputName) => outputs.find((found) => found.name === name);
  const pending: Read = (state) => output(state, 'webhook')?.pending_changes ?? 0;
  gauge('webhook_pending_changes', 'Changes that the receiver of the webhook has not accepted yet.', pending);
  // 0 rather than absent, so that a mirror that was never written raises the alert, too.
  const mirroredAt: Read = (state) => {
    const mirror = output(state, 'mirror');
    return mirror && Date.parse(mirror.done_at ?? '1970-01-01') / 1_000;
  };
  const lag: Read = (state) => output(state, 'mirror')?.pending_changes ?? undefined;
  gauge('mirror_lag_changes', 'Changes that the mirror lacks; absent if unknown, or without a mirror.', lag);
  gauge(
    'mirror_last_success_timestamp_seconds',
    'When the mirror was last written, or up to an hour before; 0 if never, absent without a mirror.',
    mirroredAt,
  );
  gauge('token_expiry_timestamp_seconds', "When the token expires, by the service's clock; absent if unknown.", expiry);
  gauge('clock_skew_seconds', "How far the service's clock was ahead at the last login that had a Date header.", skew);
  gauge('database_bytes', 'Size of the database file, without its WAL.', ({ path }) => bytesOf(path));
  gauge('database_wal_bytes', 'Size of the write-ahead log (WAL).', walBytes);
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

function bytesOf(path: string | undefined): number | undefined {
  return path === undefined ? undefined : tryOrUndefined(() => statSync(path, { throwIfNoEntry: false })?.size);
}

/** Every series starts at 0: Prometheus cannot see the increase of a counter that did not exist before. */
function createCounters(registry: Registry): Listener {
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
    new Counter({ name: `league_sync_${name}`, help, labelNames, registers: [registry] });
  const runs = counter('runs_total', 'Runs that have ended, by kind and outcome.', 'kind', 'outcome');
  const failures = counter('run_failures_total', 'Runs that failed, by kind of run and error.', 'kind', 'error_kind');
  const changes = counter('league_changes_total', 'Changes of leagues, as in the change feed.', 'change');
  const logins = counter('logins_total', 'Logins that were sent, by outcome.', 'outcome');
  const attempts = counter('webhook_attempts_total', 'Messages sent to the webhook, by what came of it.', 'outcome');
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
  for (const outcome of ATTEMPT_OUTCOMES) attempts.inc({ outcome }, 0);
  for (const outcome of LOGIN_OUTCOMES) logins.inc({ outcome }, 0);

  return (event) => {
    if (event.type === 'login') logins.inc({ outcome: event.login.outcome });
    if (event.type === 'webhookAttempt') attempts.inc({ outcome: event.outcome });
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
  const timers = { eventLoopUtilizationTimeout: NEVER_MS, eventLoopMonitoringPrecision: NEVER_MS };
  collectDefaultMetrics({ register: all, ...timers });
  for (const { name } of all.getMetricsAsArray()) {
    const metric = PROCESS_METRICS.test(name) && all.getSingleMetric(name);
    if (metric) registry.registerMetric(metric);
  }
}
