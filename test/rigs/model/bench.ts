import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StatusError, StoppedError, TransportError } from '../../../src/errors.ts';
import { createDriftLog } from '../../../src/league/drift.ts';
import type { Client, FetchResult } from '../../../src/service/client.ts';
import type { Store } from '../../../src/store/store.ts';
import { pollLeagues } from '../../../src/sync/poll.ts';
import type { RunReport } from '../../../src/sync/report.ts';
import { formatTimestamp } from '../../../src/time/clock.ts';
import { createTestClock } from '../../support/clock.ts';
import type { Row } from '../../support/database.ts';
import { fastFolder } from '../../support/folder.ts';
import { bodyOf } from '../../support/league-lists.ts';
import { openTestStore } from '../../support/store.ts';
import type { Step } from './service.ts';

export type ModelBench = Awaited<ReturnType<typeof openModelBench>>;

/** Creates databases by copying one that was migrated once. */
export async function createBenchMaker() {
  const folder = mkdtempSync(join(fastFolder(), 'league-sync-model-'));
  const template = join(folder, 'template.db');
  await (await openAt(template, createTestClock()))[Symbol.asyncDispose]();
  let made = 0;
  return {
    open: () => {
      made += 1;
      const path = join(folder, `${made}.db`);
      copyFileSync(template, path);
      return openModelBench(path);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function openAt(path: string, clock: ReturnType<typeof createTestClock>): Promise<Store> {
  return openTestStore(path, { clock });
}

/** The store of a worker, and a second connection like that of another tool. */
async function openModelBench(path: string) {
  const clock = createTestClock();
  const drift = createDriftLog();
  let store = await openAt(path, clock);
  let other = openOther(path);
  const close = async (): Promise<void> => {
    other.close();
    await store[Symbol.asyncDispose]();
  };
  return {
    path,
    poll: (step: Step, answer: string): Promise<RunReport> => {
      const stop = new AbortController();
      const client = createClient(step, answer, stop);
      const deps = {
        store,
        client,
        drift,
        scrub: (text: string) => text,
        clock,
        scope: step.scope,
        removalLimit: step.limitPercent / 100,
        quietFields: step.quiet,
        baseUrl: 'https://service.example',
        ...CONSTANT,
      };
      return pollLeagues(deps, 'schedule', stop.signal);
    },
    /** Closes the worker's store and reopens it. */
    restart: async (): Promise<void> => {
      await close();
      store = await openAt(path, clock);
      other = openOther(path);
    },
    stepClock: clock.step,
    now: clock.now,
    /** INTEGER as bigint and REAL as number. */
    rows: (sql: string, ...values: readonly unknown[]): readonly Row[] => other.prepare(sql).all(...values),
    write: (sql: string, ...values: readonly unknown[]): void => {
      other.prepare(sql).run(...values);
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await close();
      rmSync(path, { force: true });
    },
  };
}

const CONSTANT = {
  runTimeoutMs: 600_000,
  pausedUntil: () => 0,
  staleAt: (now: number) => formatTimestamp(now + 600_000),
  fingerprint: 'model',
  programVersion: '0.0.0',
  emit: () => undefined,
};

/** The connection of another tool. Caches statements, whose preparation would take most of its time. */
function openOther(path: string) {
  const db = new Database(path, { timeout: 2_000 });
  db.defaultSafeIntegers(true);
  const prepared = new Map<string, Database.Statement<unknown[], Row>>();
  return {
    prepare: (sql: string): Database.Statement<unknown[], Row> => {
      const statement = prepared.get(sql) ?? db.prepare<unknown[], Row>(sql);
      prepared.set(sql, statement);
      return statement;
    },
    close: () => db.close(),
  };
}

/** A client with this response, or with this failure. */
function createClient({ failure }: Step, answer: string, stop: AbortController): Client {
  const fetchLeagues = async (): Promise<FetchResult> => {
    if (failure === 'network' || failure === 'timeout') throw new TransportError(failure, true, 'nothing came back');
    if (failure === 'status')
      throw new StatusError(false, 'The service answered with status 400.', { httpStatus: 400 });
    if (failure === 'internal') throw new TypeError('a fault of the program');
    if (failure === 'stopped') stop.abort(new StoppedError());
    stop.signal.throwIfAborted();
    return { body: bodyOf(answer), message: undefined, timestamp: undefined, etag: undefined, lastModified: undefined };
  };
  return {
    fetchLeagues,
    fetchLeaguesIfChanged: fetchLeagues,
    fetchProfile: () => Promise.reject(new Error('No profile is asked for here.')),
  };
}
