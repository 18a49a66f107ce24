import { pino } from 'pino';
import type { CredentialPair } from '../../../src/config/credentials.ts';
import { StoppedError } from '../../../src/errors.ts';
import { remainingMs } from '../../../src/http/retry-after.ts';
import { createConnection } from '../../../src/service/connection.ts';
import type { LoginRecord } from '../../../src/service/login.ts';
import { openService } from '../../../src/service/service.ts';
import { pollLeagues, pollProfile } from '../../../src/sync/poll.ts';
import type { RunReport } from '../../../src/sync/report.ts';
import type { RunDeps } from '../../../src/sync/run.ts';
import { formatTimestamp } from '../../../src/time/clock.ts';
import { createLoginRecorder } from '../../../src/worker/resources.ts';
import { createRunQueue } from '../../../src/worker/run-queue.ts';
import { runScheduler, type ScheduledJob } from '../../../src/worker/scheduler.ts';
import { isFresh } from '../../../src/worker/worker.ts';
import { openTestStore } from '../../support/store.ts';
import type { CountingService } from './service.ts';
import type { World } from './simulation.ts';

/** A run and its end, in ms of true time since the start. */
export type Ended = { readonly at: number; readonly report: RunReport };

export type CountingWorker = {
  readonly ended: readonly Ended[];
  /** What SIGHUP does. */
  readonly pollNow: () => void;
  /** What SIGTERM does. */
  readonly stop: () => Promise<void>;
};

export type WorkerOptions = {
  readonly path: string;
  readonly everyMs: number;
  readonly profileEveryMs: number;
  readonly random: () => number;
  /** Reads the current content of the secret file. */
  readonly readPair: () => CredentialPair;
};

const MINUTE_MS = 60_000;
const LEEWAY_MS = 5 * MINUTE_MS;
const RUN_TIMEOUT_MS = 2 * MINUTE_MS;
const FINGERPRINT = 'counting';
const log = pino({ level: 'silent' });

/** The parts of a worker, wired as `runWorker` does it, with simulated clocks and a simulated service. */
export async function startWorker(
  world: World,
  service: CountingService,
  options: WorkerOptions,
): Promise<CountingWorker> {
  const { clock } = world;
  const stopping = new AbortController();
  const { signal } = stopping;
  const store = await openTestStore(options.path, { clock, stop: signal });
  await store.write(() => store.runs.interruptRunning('killed'));
  const journal = createLoginRecorder(store, FINGERPRINT, log);
  // The next start needs only the Retry-After of a login; recording the other columns would cost a test seconds.
  const record = (login: LoginRecord): void => {
    if (login.error?.notBefore !== undefined) journal.recordLogin(login);
  };
  const retryAfterLeftMs = remainingMs(store.runs.lastRetryAfter(FINGERPRINT), clock.now());
  const { random, readPair } = options;
  const connection = createConnection(
    service.transport,
    { retryAfterLeftMs, onRetryAfter: journal.recordRetryAfter },
    { clock, random },
  );
  const config = { credentials: { read: readPair }, loginLeewayMs: LEEWAY_MS, runTimeoutMs: RUN_TIMEOUT_MS };
  const { session, retryAfter, client, drift, secrets } = openService(config, connection, {
    firstReason: 'start',
    onLogin: record,
    signal,
  });
  const ended: Ended[] = [];
  const deps: RunDeps = {
    store,
    emit: (event) => {
      if (event.type === 'runEnded') ended.push({ at: world.elapsed(), report: event.report });
    },
    client,
    drift,
    scrub: secrets.scrub,
    clock,
    scope: 'all',
    baseUrl: 'https://service.example',
    removalLimit: 0.2,
    runTimeoutMs: RUN_TIMEOUT_MS,
    pausedUntil: retryAfter.until,
    staleAt: (now) => formatTimestamp(now + RUN_TIMEOUT_MS),
    fingerprint: FINGERPRINT,
    programVersion: FINGERPRINT,
  };
  const queue = createRunQueue({
    poll: {
      leagues: (trigger) => pollLeagues(deps, trigger, signal),
      profile: async (trigger) => (await pollProfile(deps, trigger, signal)).report,
    },
    retryAfter: retryAfter,
    blockedBy: (kind) => session.blockedBy(kind),
    log,
    signal,
  });
  for (const kind of ['leagues', 'profile'] as const) {
    const last = kind === 'leagues' ? store.runs.lastOfScope('all') : store.runs.lastProfile();
    if (last === undefined || !isFresh(last, clock.now())) queue.request(kind, 'start');
  }
  const keeping = session.keepRenewed(signal);
  const watched = [
    scheduleEvery(options.everyMs, world, (due) => queue.request('leagues', due)),
    scheduleEvery(options.profileEveryMs, world, (due) => queue.request('profile', due)),
  ];
  const watching = runScheduler(watched, { clock, onTick: () => queue.resume() }, signal);
  const end = async (): Promise<void> => {
    stopping.abort(new StoppedError());
    await Promise.all([watching, keeping, queue.idle(), session.settled()]);
    await journal[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  };
  let ending: Promise<void> | undefined;
  return {
    ended,
    pollNow: () => {
      session.retryNow();
      queue.request('leagues', 'manual');
    },
    stop: () => {
      ending ??= end();
      return ending;
    },
  };
}

/** Scheduled at every multiple of an interval, like `*∕5 * * * *`. */
function scheduleEvery(everyMs: number, { clock }: World, onDue: ScheduledJob['onDue']): ScheduledJob {
  const nextTime = (now = clock.now()): number => (Math.floor(now / everyMs) + 1) * everyMs;
  return { schedule: { nextTime }, onDue };
}
