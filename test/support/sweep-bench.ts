import { performance } from 'node:perf_hooks';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import type { LoginRecord } from '../../src/service/login.ts';
import { connect, createTransport, openService, type Transport } from '../../src/service/service.ts';
import { pollLeagues, pollProfile } from '../../src/sync/poll.ts';
import type { RunReport } from '../../src/sync/report.ts';
import type { Clock } from '../../src/time/clock.ts';
import { createLoginRecorder } from '../../src/worker/open.ts';
import { type Folder, openBench, PASSWORD, type Row, USERNAME } from './worker-resources.ts';

/** Whose waits take no time: they are added to what it shows. */
export type SwiftClock = Clock & { readonly skip: (ms: number) => void };

export function createSwiftClock(onWait: () => Promise<void>): SwiftClock {
  let skipped = 0;
  return {
    now: () => Math.round(Date.now() + skipped),
    monotonic: () => performance.now() + skipped,
    skip: (ms) => {
      skipped += ms;
    },
    sleep: async (ms, signal) => {
      skipped += ms;
      await onWait();
      signal?.throwIfAborted();
    },
  };
}

/** A worker's parts on a clock whose waits cost nothing. */
export type SweepBench = AsyncDisposable & {
  /** Forgets token, refusals and pauses, as a new worker would; called before the first poll. */
  readonly begin: () => void;
  readonly poll: () => Promise<RunReport>;
  readonly pollProfile: () => Promise<RunReport>;
  /** As soon as every login so far has its row. */
  readonly flush: () => Promise<void>;
  /** What a query by one other connection, which stays open, gives. */
  readonly read: (sql: string) => readonly Row[];
  readonly log: readonly string[];
  /** Errors thrown by a request or a login, or reported by a run, oldest first. */
  readonly errors: readonly unknown[];
};

export type SweepOptions = {
  readonly folder: Folder;
  readonly url: string;
  readonly clock: Clock;
  /** Asked at every attempt, so that only those that must run out of time have little. */
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
    // What it waits for is what was begun before the call, so it may be asked for again and again.
    flush: () => Promise.resolve(journal[Symbol.asyncDispose]()),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The side that talks to the service, as the worker wires it, but on the clock of the sweep and without chance. */
function assembleSide(
  { url, clock, ...limits }: SweepOptions,
  journal: ReturnType<typeof createLoginRecorder>,
  signal: AbortSignal,
  errors: unknown[],
) {
  const { maxBodyBytes } = limits;
  const transport: Transport = (request, signal) => {
    const attemptTimeoutMs = limits.attemptTimeoutMs();
    return createTransport({ baseUrl: url, proxy: undefined, maxBodyBytes, attemptTimeoutMs })(request, signal);
  };
  const parts = { clock, random: () => 0.5 };
  const connection = connect(noting(transport, errors), { onRetryAfter: journal.recordRetryAfter }, parts);
  const credentials = { read: () => ({ username: USERNAME, password: PASSWORD }) };
  const onLogin = (login: LoginRecord): void => {
    if (login.error !== undefined) errors.push(login.error);
    journal.recordLogin(login);
  };
  const config = { credentials, loginLeewayMs: LEEWAY_MS, runTimeoutMs: limits.runTimeoutMs };
  const options = { firstReason: 'manual', onLogin, signal } as const;
  const { client, drift, retryAfter } = openService(config, connection, options);
  return { client, drift, pausedUntil: retryAfter.until };
}

/** The same function, whose errors are noted on their way. */
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
