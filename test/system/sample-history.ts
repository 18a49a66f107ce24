import { pino } from 'pino';
import { StoppedError } from '../../src/errors.ts';
import { openService } from '../../src/service/service.ts';
import type { Store } from '../../src/store/store.ts';
import { pollLeagues, pollProfile } from '../../src/sync/poll.ts';
import type { RunDeps } from '../../src/sync/run.ts';
import { formatTimestamp } from '../../src/time/clock.ts';
import { createLoginRecorder } from '../../src/worker/open-resources.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { openTestStore } from '../support/store.ts';
import { SERVICE_EVENTS, type ServiceEvent } from './sample-history-events.ts';
import { createSampleService, type SampleService } from './sample-history-service.ts';

const HOUR_MS = 3_600_000;
const POLL_EVERY_MS = 4 * HOUR_MS;
const RUN_TIMEOUT_MS = HOUR_MS / 30;
const PROFILE_HOUR = 12;
/** The turns of the event loop that a poll takes between two clock steps. */
const TURNS = 20;
const FIRST_START = '2026-11-02T07:40:00.000Z';
/** The worker is killed during the poll at this time, and restarted in the morning. */
const KILLED_AT = '2026-11-07T16:00:00.000Z';
const SECOND_START = '2026-11-08T06:50:00.000Z';
const END = '2026-11-16T12:00:00.000Z';

const CONFIG = {
  baseUrl: 'https://service.example',
  proxy: undefined,
  attemptTimeoutMs: 30_000,
  maxBodyBytes: 64_000_000,
  loginLeewayMs: HOUR_MS / 12,
  runTimeoutMs: HOUR_MS / 30,
};
const IDENTITY = { fingerprint: 'sample', programVersion: 'sample' };

/**
 * Fills a new database with two weeks of a worker's life, deterministically: real logins, polls and writes with a
 * simulated service and clock. The answers in the cookbook are from this database.
 */
export async function fillSampleHistory(path: string): Promise<void> {
  const clock = createTestClock(Date.parse(FIRST_START), TURNS);
  const events = [...SERVICE_EVENTS];
  const service = createSampleService(clock);
  const runUntil = (until: string, killed: boolean): Promise<void> =>
    runWorker(path, { clock, service, advanceTo: (at) => advanceTo(at, events, clock, service) }, until, killed);
  await runUntil(KILLED_AT, true);
  await advanceTo(Date.parse(SECOND_START), events, clock, service);
  await runUntil(END, false);
}

type Simulation = {
  readonly clock: TestClock;
  readonly service: SampleService;
  /** Advances the clock to this time, with everything that happens until then. */
  readonly advanceTo: (at: number) => Promise<void>;
};

/** One worker from its start to its end. */
async function runWorker(path: string, simulation: Simulation, until: string, killed: boolean): Promise<void> {
  const { clock } = simulation;
  const stop = new AbortController();
  await using store = await openTestStore(path, { clock, stop: stop.signal });
  const message = `The worker stopped during this poll (killed, crashed or power lost); found at the next start, on ${formatTimestamp(clock.now())}.`;
  await store.write(() => store.runs.interruptRunning(message));
  const { deps, keeping } = openDeps(store, simulation, stop.signal);
  const poll = (trigger: 'start' | 'schedule') => finish(clock, pollLeagues(deps, trigger, stop.signal));
  await poll('start');
  await finish(clock, pollProfile(deps, 'start', stop.signal));
  const end = Date.parse(until);
  for (let time = nextTime(clock.now()); time <= end; time += POLL_EVERY_MS) {
    await simulation.advanceTo(time);
    if (time === end && killed) {
      await store.write(() => store.runs.start(runStartAt(clock.now())));
      break;
    }
    await poll('schedule');
    if (new Date(time).getUTCHours() === PROFILE_HOUR) await finish(clock, pollProfile(deps, 'schedule', stop.signal));
  }
  stop.abort(new StoppedError());
  await keeping;
}

function openDeps(store: Store, { clock, service }: Simulation, signal: AbortSignal) {
  const credentials = { read: () => ({ username: 'player', password: 'secret-password' }) };
  const journal = createLoginRecorder(store, IDENTITY.fingerprint, pino({ level: 'silent' }));
  const { client, session, drift, secrets } = openService(
    { ...CONFIG, credentials },
    {
      system: { clock, random: () => 0.5, send: service.send },
      firstReason: 'start',
      onLogin: journal.recordLogin,
      signal,
    },
  );
  const deps: RunDeps = {
    store,
    client,
    drift,
    scrub: secrets.scrub,
    clock,
    baseUrl: CONFIG.baseUrl,
    scope: 'all',
    removalLimit: 0.2,
    quietFields: [],
    runTimeoutMs: RUN_TIMEOUT_MS,
    pausedUntil: () => 0,
    staleAt: (now) => formatTimestamp(nextTime(now) + 2 * POLL_EVERY_MS + RUN_TIMEOUT_MS),
    emit: () => undefined,
    ...IDENTITY,
  };
  return { deps, keeping: session.keepRenewed(signal).then(() => journal[Symbol.asyncDispose]()) };
}

function runStartAt(now: number) {
  const { fingerprint, programVersion: program_version } = IDENTITY;
  const started_at = formatTimestamp(now);
  return { kind: 'leagues', trigger: 'schedule', scope: 'all', started_at, fingerprint, program_version } as const;
}

function nextTime(now: number): number {
  return (Math.floor(now / POLL_EVERY_MS) + 1) * POLL_EVERY_MS;
}

async function advanceTo(at: number, events: ServiceEvent[], clock: TestClock, service: SampleService): Promise<void> {
  for (let next = events[0]; next !== undefined && Date.parse(next[0]) <= at; next = events[0]) {
    events.shift();
    await clock.advance(Date.parse(next[0]) - clock.now());
    next[1](service);
  }
  await clock.advance(at - clock.now());
}

/** Lets time pass until the run has ended. */
async function finish(clock: TestClock, run: Promise<unknown>): Promise<void> {
  let ended = false;
  const end = run.finally(() => {
    ended = true;
  });
  while (!ended) await clock.advance(1_000);
  await end;
}
