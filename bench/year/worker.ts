import { pino } from 'pino';
import { openService } from '../../src/service/service.ts';
import { createRandom } from '../../src/simulator/churn.ts';
import type { Store } from '../../src/store/store.ts';
import { pollLeagues, pollProfile } from '../../src/sync/poll.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { formatTimestamp } from '../../src/time/clock.ts';
import { createLoginRecorder } from '../../src/worker/open-resources.ts';
import { createRetention } from '../../src/worker/retention.ts';
import { openTestStore } from '../../test/support/store.ts';
import type { HandClock } from './clock.ts';
import { createYearService, type ServiceOptions } from './service.ts';

/** The default of LEAGUE_SYNC_RUN_RETENTION. */
const RETENTION_MS = 90 * 86_400_000;
const RUN_TIMEOUT_MS = 120_000;
const SEED = 7;
const CONFIG = {
  baseUrl: 'https://service.example',
  proxy: undefined,
  attemptTimeoutMs: 30_000,
  maxBodyBytes: 64_000_000,
  loginLeewayMs: 300_000,
  runTimeoutMs: RUN_TIMEOUT_MS,
};

/** The parts of a worker, wired as the worker does it, except for the clock and the network. */
export type YearWorker = AsyncDisposable & {
  readonly store: Store;
  readonly poll: () => Promise<RunReport>;
  readonly pollProfile: () => Promise<unknown>;
  /** Does the maintenance between polls: prunes old rows once a day. */
  readonly look: () => Promise<void>;
};

export type YearOptions = ServiceOptions & {
  readonly clock: HandClock;
  /** How long after a good poll the data is fresh. */
  readonly freshForMs?: number;
  readonly quietFields?: readonly string[];
};

export async function openYearWorker(path: string, options: YearOptions): Promise<YearWorker> {
  const { clock, freshForMs = 3 * 60_000 + RUN_TIMEOUT_MS, quietFields = [], ...service } = options;
  const stop = new AbortController().signal;
  const log = pino({ level: 'silent' });
  const store = await openTestStore(path, { clock });
  const fingerprint = 'y'.repeat(43);
  const journal = createLoginRecorder(store, fingerprint, log);
  const system = { clock, random: createRandom(SEED), send: createYearService(clock, service) };
  const credentials = { read: () => ({ username: 'player', password: 'secret-password' }) };
  const { client, drift, secrets, retryAfter } = openService(
    { ...CONFIG, credentials },
    {
      system,
      onRetryAfter: journal.recordRetryAfter,
      firstReason: 'start',
      onLogin: journal.recordLogin,
      signal: stop,
    },
  );
  const deps = {
    store,
    client,
    drift,
    scrub: secrets.scrub,
    clock,
    scope: 'all',
    baseUrl: CONFIG.baseUrl,
    removalLimit: 0.2,
    runTimeoutMs: RUN_TIMEOUT_MS,
    pausedUntil: retryAfter.until,
    emit: () => undefined,
    staleAt: (now: number) => formatTimestamp(now + freshForMs),
    fingerprint,
    programVersion: '0.2.0',
    quietFields,
  } as const;
  const pruning = createRetention(RETENTION_MS, deps, log);
  return {
    store,
    poll: () => pollLeagues(deps, 'schedule', stop),
    pollProfile: () => pollProfile(deps, 'schedule', stop),
    look: async () => {
      pruning.tick();
      await pruning.idle();
    },
    [Symbol.asyncDispose]: async () => {
      await journal[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
