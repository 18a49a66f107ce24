import { CredentialsError, type DatabaseError } from '../../src/errors.ts';
import { createMonitor, type MonitorSources } from '../../src/observe/worker-state.ts';
import type { Resource } from '../../src/service/session-backoff.ts';
import type { Attention, Freshness, OutputStatus } from '../../src/store/queries/overview.ts';
import { type Clock, formatTimestamp } from '../../src/time/clock.ts';
import { parseSchedule } from '../../src/time/next-cron-time.ts';

export function createTestMonitor(clock: Clock) {
  return createMonitor(
    {
      baseUrl: 'https://api.example.com',
      scope: 'all',
      database: 'leagues.db',
      schedule: parseSchedule('*/5 * * * *', 'UTC'),
      profileSchedule: 'off',
    },
    clock,
  );
}

/** How long data is fresh by default, in ms. */
export const STALE_AFTER = 17 * 60_000;

type Known = {
  /** When (ms) the leagues, and the profile, were last brought up to date. */
  readonly lastSuccessAt?: number | undefined;
  readonly lastProfileAt?: number | undefined;
  /** By default, 17 min after the last success. */
  readonly staleAt?: number;
  readonly consecutiveFailures?: number;
  readonly attention?: () => readonly Attention[];
  readonly counts?: Partial<Freshness>;
  readonly path?: string;
  readonly fault?: () => DatabaseError | undefined;
  readonly refusal?: () => { readonly message: string; readonly resource?: Resource } | undefined;
  readonly expiresAt?: () => number | undefined;
  readonly outputs?: readonly OutputStatus[];
};

/** The sources of a monitor, for a worker with this database and session. */
export function makeMonitorSources(known: Known = {}): MonitorSources {
  const { lastSuccessAt, lastProfileAt, path = 'leagues.db', fault, refusal, expiresAt } = known;
  const freshness: Freshness = {
    last_success_at: lastSuccessAt === undefined ? null : formatTimestamp(lastSuccessAt),
    age_seconds: null,
    last_outcome: null,
    consecutive_failures: known.consecutiveFailures ?? 0,
    live_leagues: 1,
    listed_leagues: 1,
    removed_leagues: 0,
    held_removals: 0,
    open_rejections: 0,
    stale_at: lastSuccessAt === undefined ? null : formatTimestamp(known.staleAt ?? lastSuccessAt + STALE_AFTER),
    ...known.counts,
  };
  const opening = {
    store: {
      path,
      read: <T>(work: () => T): T => work(),
      identity: { id: () => '0'.repeat(32) },
      freshness: () => freshness,
      attention: () => known.attention?.() ?? [],
      outputStatus: () => known.outputs ?? [],
      writeError: () => fault?.(),
      runs: {
        lastProfile: () => ({ finished_at: lastProfileAt === undefined ? null : formatTimestamp(lastProfileAt) }),
      },
    },
    session: {
      blockedBy: () => undefined,
      current: () => expiresAt && { expiresAt: expiresAt() },
      failure: () => {
        const found = refusal?.();
        if (found === undefined) return undefined;
        const error = new CredentialsError(found.message, { httpStatus: 401 });
        return { error, until: Date.now(), subject: found.resource ?? 'login' };
      },
    },
    retryAfter: { until: () => 0 },
  };
  return opening as unknown as MonitorSources;
}
