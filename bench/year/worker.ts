import { pino } from 'pino';
import { createDriftLog } from '../../src/drift.ts';
import { createSecrets } from '../../src/redact.ts';
import { createClient } from '../../src/service/client.ts';
import { createLogIn } from '../../src/service/login.ts';
import { createPause, respectPause } from '../../src/service/pause.ts';
import { createSession } from '../../src/service/session.ts';
import { createRandom } from '../../src/simulator/churn.ts';
import type { Store } from '../../src/store/store.ts';
import { pollLeagues } from '../../src/sync/leagues.ts';
import { pollProfile } from '../../src/sync/profile.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { createJournal } from '../../src/worker/journal.ts';
import { createPruning } from '../../src/worker/pruning.ts';
import { openTestStore } from '../../test/support/store.ts';
import type { HandClock } from './clock.ts';
import { createYearService } from './service.ts';

/** The default of LEAGUE_SYNC_RUN_RETENTION. */
const RETENTION_MS = 90 * 86_400_000;
const RUN_TIMEOUT_MS = 120_000;
const LEEWAY_MS = 300_000;
const SEED = 7;

/** The worker's own parts, wired as the worker wires them, but for the clock and the network. */
export type YearWorker = AsyncDisposable & {
  readonly store: Store;
  readonly poll: () => Promise<RunReport>;
  readonly pollProfile: () => Promise<unknown>;
  /** Does what the worker looks after between polls: deletes old rows once a day. */
  readonly look: () => Promise<void>;
};

export type YearOptions = {
  readonly clock: HandClock;
  /** Whether the service names the version of its list, and answers 304 where the client has it. */
  readonly conditional: boolean;
};

export async function openYearWorker(path: string, { clock, conditional }: YearOptions): Promise<YearWorker> {
  const stop = new AbortController().signal;
  const log = pino({ level: 'silent' });
  const store = await openTestStore(path, { clock });
  const fingerprint = 'y'.repeat(43);
  const journal = createJournal(store, fingerprint, log);
  const [secrets, drift, random] = [createSecrets(clock.monotonic), createDriftLog(), createRandom(SEED)];
  const pause = createPause(clock, 0, journal.recordPause);
  const transport = respectPause(createYearService(clock, { conditional }), pause, clock);
  const service = { transport, secrets, drift, clock, random, pause };
  const session = createSession({
    logIn: createLogIn({ ...service, record: journal.recordLogin }),
    credentials: { read: () => ({ username: 'player', password: 'secret-password' }) },
    clock,
    random,
    leewayMs: LEEWAY_MS,
    firstReason: 'start',
    loginTimeoutMs: RUN_TIMEOUT_MS,
    signal: stop,
  });
  const tools = {
    store,
    client: createClient({ ...service, session }),
    drift,
    scrub: service.secrets.scrub,
    clock,
    scope: 'all',
    removalLimit: 0.2,
    runTimeoutMs: RUN_TIMEOUT_MS,
    pausedUntil: pause.until,
    emit: () => undefined,
    fingerprint,
    programVersion: '0.1.0',
  } as const;
  const pruning = createPruning({ runRetentionMs: RETENTION_MS }, tools, log);
  return {
    store,
    poll: () => pollLeagues(tools, 'schedule', stop),
    pollProfile: () => pollProfile(tools, 'schedule', stop),
    look: async () => {
      pruning.look();
      await pruning.idle();
    },
    [Symbol.asyncDispose]: async () => {
      await journal[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
