import { performance } from 'node:perf_hooks';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { type SendRequest, sendRequest } from '../../../src/http/request.ts';
import type { LoginRecord } from '../../../src/service/login.ts';
import { openService } from '../../../src/service/service.ts';
import { pollLeagues, pollProfile } from '../../../src/sync/poll.ts';
import type { RunReport } from '../../../src/sync/report.ts';
import { type Clock, systemClock } from '../../../src/time/clock.ts';
import { createLoginRecorder } from '../../../src/worker/resources.ts';
import type { Row } from '../../support/database.ts';
import type { Folder } from '../../support/folder.ts';
import { openBench, PASSWORD, USERNAME } from '../../support/worker-resources.ts';

/** A clock whose sleeps return at once and advance it, except those of at least `realMs`, which is the time limit of a run. */
export type SwiftClock = Clock & { readonly skip: (ms: number) => void };

export function createSwiftClock(onWait: () => Promise<void>, realMs: number): SwiftClock {
  let skipped = 0;
  return {
    now: () => Math.round(Date.now() + skipped),
    monotonic: () => performance.now() + skipped,
    skip: (ms) => {
      skipped += ms;
    },
    sleep: async (ms, signal) => {
      if (ms >= realMs) return systemClock.sleep(ms, signal);
      skipped += ms;
      await onWait();
      signal?.throwIfAborted();
    },
  };
}

/** The parts of a worker with a simulated clock. */
export type SweepBench = AsyncDisposable & {
  /** Resets token, backoffs and Retry-After, like a new worker; called before the first poll. */
  readonly begin: () => void;
  readonly poll: () => Promise<RunReport>;
  readonly pollProfile: () => Promise<RunReport>;
  /** Waits until every login is recorded. */
  readonly flush: () => Promise<void>;
  /** The rows of a query over a second connection, which stays open. */
  readonly read: (sql: string) => readonly Row[];
  readonly log: readonly string[];
  /** Errors thrown by a request or a login, or reported by a run, oldest first. */
  readonly errors: readonly unknown[];
};

export type SweepOptions = {
  readonly folder: Folder;
  readonly url: string;
  readonly clock: Clock;
  /** Called for every attempt, so that only attempts that must time out have a short timeout. */
  readonly attemptTimeoutMs: () => number;
  readonly maxBodyBytes: number;
  readonly runTimeoutMs: number;
};

export async function openSweepBench(options: SweepOptions): Promise<SweepBench> {
  await using opening = new AsyncDisposableStack();
  const bench = opening.use(await openBench(options));
  const log: string[] = [];
  const sink = pino({ level: 'trace' }, { write: (line: string) => log.push(line) });
  const journal = opening.use(createLoginRecorder(bench.place.store, bench.deps.fingerprint, sink));
  const reader = opening.adopt(new Database(bench.path, { readonly: true }), (db) => {
    db.close();
  });
  const stack = opening.move();
  const { signal } = new AbortController();
  const errors: unknown[] = [];
  const begin = () => {
    const side = assembleSide(options, journal, signal, errors);
    return { ...bench.deps, ...side, runTimeoutMs: options.runTimeoutMs };
  };
  let deps = begin();
  const noted = (report: RunReport): RunReport => {
    if (report.error !== undefined) errors.push(report.error);
    return report;
  };
  return {
    begin: () => {
      deps = begin();
    },
    log,
    errors,
    read: (sql) => reader.prepare<[], Row>(sql).all(),
    poll: async () => noted(await pollLeagues(deps, 'manual', signal)),
    pollProfile: async () => noted((await pollProfile(deps, 'manual', signal)).report),
    // Waits only for what was begun before the call, so it can be called repeatedly.
    flush: () => Promise.resolve(journal[Symbol.asyncDispose]()),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The client and the session, wired like the worker does it, but with the simulated clock and without randomness. */
function assembleSide(
  { url, clock, ...limits }: SweepOptions,
  journal: ReturnType<typeof createLoginRecorder>,
  signal: AbortSignal,
  errors: unknown[],
) {
  const { maxBodyBytes, runTimeoutMs } = limits;
  const send: SendRequest = (request, signal) =>
    sendRequest({ ...request, timeoutMs: limits.attemptTimeoutMs() }, signal);
  const system = { clock, random: () => 0.5, send: noting(send, errors) };
  const credentials = { read: () => ({ username: USERNAME, password: PASSWORD }) };
  const onLogin = (login: LoginRecord): void => {
    if (login.error !== undefined) errors.push(login.error);
    journal.recordLogin(login);
  };
  const config = {
    ...{ baseUrl: url, proxy: undefined, attemptTimeoutMs: runTimeoutMs, maxBodyBytes, runTimeoutMs },
    ...{ credentials, loginLeewayMs: LEEWAY_MS },
  };
  const waits = { onRetryAfter: journal.recordRetryAfter };
  const { client, drift, retryAfter } = openService(config, {
    ...waits,
    system,
    firstReason: 'manual',
    onLogin,
    signal,
  });
  return { client, drift, pausedUntil: retryAfter.until };
}

/** Wraps a function so that its errors are recorded. */
function noting<Args extends readonly unknown[], T>(work: (...args: Args) => Promise<T>, errors: unknown[]) {
  return async (...args: Args): Promise<T> => {
    try {
      return await work(...args);
    } catch (error) {
      errors.push(error);
      throw error;
    }
  };
}

const LEEWAY_MS = 300_000;
