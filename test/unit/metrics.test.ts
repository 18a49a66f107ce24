import { describe, expect, it } from 'vitest';
import { TransportError } from '../../src/errors.ts';
import type { WorkerEvent } from '../../src/events.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { NO_COUNTS, type RunReport } from '../../src/sync/report.ts';
import { formatTimestamp } from '../../src/time/clock.ts';
import { createTestClock } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { createTestMonitor, makeMonitorSources } from '../support/monitor-sources.ts';
import { ended, makeReport } from '../support/run-report.ts';
import { readScrape, type Scrape } from '../support/scrape.ts';

const NO_ROWS = { live_leagues: 7, removed_leagues: 2, held_removals: 0, open_rejections: 0 };

function createStage() {
  const clock = createTestClock();
  const monitor = createTestMonitor(clock);
  const metrics = createMetrics(monitor);
  const note = (event: WorkerEvent): void => {
    monitor.onEvent(event);
    metrics.onEvent(event);
  };
  let expiresAt: number | undefined;
  const open = (more: Parameters<typeof makeMonitorSources>[0] = {}): void =>
    monitor.open(
      makeMonitorSources({ path: '/nowhere/leagues.db', expiresAt: () => expiresAt, counts: NO_ROWS, ...more }),
    );
  const read = async (): Promise<Scrape> => readScrape(await metrics.render());
  const hold = (next: number | undefined): void => {
    expiresAt = next;
  };
  return { clock, note, open, read, hold };
}

function reportOf(kind: RunReport['kind'], outcome: RunReport['outcome'], more: Partial<RunReport> = {}): RunReport {
  return makeReport({ kind, outcome, durationMs: 40, ...more });
}

const GAUGES = [
  'league_sync_consecutive_failures',
  'league_sync_held_removals',
  'league_sync_database_bytes',
  'league_sync_database_wal_bytes',
  'league_sync_token_expiry_timestamp_seconds',
  'league_sync_clock_skew_seconds',
];

describe('the metrics', () => {
  it('export only counters, at 0, before the database is open', async () => {
    const found = await createStage().read();
    expect(GAUGES.map((name) => found.value(name))).toEqual(GAUGES.map(() => undefined));
    expect(found.samples.filter(({ name }) => name === 'league_sync_leagues')).toEqual([]);
    expect(found.value('league_sync_not_ready', { reason: 'starting' })).toBe(1);
    expect(found.value('league_sync_not_ready', { reason: 'stale' })).toBe(0);
    const counted = found.samples.filter(({ name }) => /^league_sync_.*(_total|_count)$/.test(name));
    expect(counted.length).toBeGreaterThan(20);
    expect(counted.filter(({ value }) => value !== 0)).toEqual([]);
    expect(found.value('league_sync_run_duration_seconds_count', { kind: 'leagues' })).toBe(0);
  });

  it('say how many leagues there are, and how large the files of the database are', async () => {
    const { open, read } = createStage();
    using folder = makeFolder();
    folder.write('leagues.db-wal', 'of 11 bytes');
    open({ path: folder.write('leagues.db', 'short') });
    const found = await read();
    const leagues = ['live', 'removed'].map((state) => found.value('league_sync_leagues', { state }));
    const bytes = ['', '_wal'].map((of) => found.value(`league_sync_database${of}_bytes`));
    expect([...leagues, ...bytes]).toEqual([7, 2, 5, 11]);
  });

  it('leave out an expiry as soon as it is not known any more', async () => {
    const { open, read, hold } = createStage();
    open();
    hold(1_800_000_000_000);
    expect((await read()).value('league_sync_token_expiry_timestamp_seconds')).toBe(1_800_000_000);
    hold(undefined);
    expect((await read()).value('league_sync_token_expiry_timestamp_seconds')).toBeUndefined();
  });

  it('keep the skew of the last login, even if the next one fails', async () => {
    const { note, read } = createStage();
    note({ type: 'login', login: { at: 0, reason: 'start', runId: 1, outcome: 'ok', clockSkewMs: -2_500 } });
    note({ type: 'login', login: { at: 1, reason: 'due', runId: null, outcome: 'failed' } });
    const found = await read();
    expect(found.value('league_sync_clock_skew_seconds')).toBe(-2.5);
    expect(found.value('league_sync_logins_total', { outcome: 'failed' })).toBe(1);
  });

  it('go on from the failures that the database knows, and do not count what was interrupted', async () => {
    const { note, open, read } = createStage();
    const failed = { error: new TransportError('timeout', true, 'it took too long') };
    const failures = async () => (await read()).value('league_sync_consecutive_failures');
    open({ consecutiveFailures: 4 });
    expect(await failures()).toBe(4);
    note(ended(reportOf('leagues', 'failed', failed)));
    note(ended(reportOf('profile', 'unchanged')));
    note(ended(reportOf('leagues', 'interrupted')));
    expect(await failures()).toBe(5);
    note(ended(reportOf('leagues', 'held')));
    expect(await failures()).toBe(0);
    expect((await read()).value('league_sync_run_failures_total', { kind: 'leagues', error_kind: 'timeout' })).toBe(1);
  });

  it('say when each kind was last brought up to date', async () => {
    const { clock, note, open, read } = createStage();
    const success = async (kind: string) =>
      (await read()).value('league_sync_last_success_timestamp_seconds', { kind });
    open({ lastSuccessAt: 5_000, lastProfileAt: 6_000 });
    expect([await success('leagues'), await success('profile')]).toEqual([5, 6]);
    note(ended(reportOf('profile', 'failed')));
    const finishedAt = formatTimestamp(clock.now());
    note(ended(reportOf('leagues', 'unchanged', { finishedAt })));
    expect([await success('leagues'), await success('profile')]).toEqual([clock.now() / 1_000, 6]);
    note(ended(reportOf('profile', 'unchanged', { finishedAt })));
    expect(await success('profile')).toBe(clock.now() / 1_000);
  });

  it('count runs by duration, and changes by kind', async () => {
    const { note, read } = createStage();
    const counts = { ...NO_COUNTS, received: 9, added: 3, changed: 2, restored: 1, removed: 4, unchanged: 3 };
    note(ended(reportOf('leagues', 'changed', { durationMs: 40, counts })));
    note(ended(reportOf('leagues', 'changed', { durationMs: 700_000, counts })));
    const found = await read();
    const within = (le: string) => found.value('league_sync_run_duration_seconds_bucket', { kind: 'leagues', le });
    expect([within('0.05'), within('300'), within('+Inf')]).toEqual([1, 1, 2]);
    expect(found.value('league_sync_run_duration_seconds_sum', { kind: 'leagues' })).toBeCloseTo(700.04);
    const changed = ['added', 'changed', 'restored', 'removed'].map((change) =>
      found.value('league_sync_league_changes_total', { change }),
    );
    expect(changed).toEqual([6, 4, 2, 8]);
    expect(found.value('league_sync_runs_total', { kind: 'leagues', outcome: 'changed' })).toBe(2);
    expect(found.value('league_sync_runs_total', { kind: 'profile', outcome: 'changed' })).toBe(0);
  });

  it('name no scheduled time of a profile that is never polled', async () => {
    const found = await createStage().read();
    expect(found.value('league_sync_next_slot_timestamp_seconds', { kind: 'leagues' })).toBeGreaterThan(0);
    expect(found.value('league_sync_next_slot_timestamp_seconds', { kind: 'profile' })).toBeUndefined();
  });
});
