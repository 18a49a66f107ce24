import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { readSettings } from '../../src/config/read-environment.ts';
import { StoppedError } from '../../src/errors.ts';
import type { CopyDatabase } from '../../src/outputs/publish-copy.ts';
import { REAL_SYSTEM } from '../../src/service/connection.ts';
import { pollLeagues, pollProfile } from '../../src/sync/poll.ts';
import type { RunReport } from '../../src/sync/report.ts';
import type { RunDeps } from '../../src/sync/run.ts';
import type { Clock } from '../../src/time/clock.ts';
import { openWorker, type WorkerResources } from '../../src/worker/open-resources.ts';
import { type Row, readRows } from './database.ts';
import { type Folder, makeFolder } from './folder.ts';
import { listLeagues, type Replies, startService } from './service.ts';
import { placeEmpty } from './store.ts';

export const USERNAME = 'player';
export const PASSWORD = 'secret-password';

/** The parts of a worker, wired like the worker does it, on a database in the folder. */
export type Bench = AsyncDisposable & {
  readonly path: string;
  readonly place: WorkerResources;
  readonly deps: RunDeps;
  /** All log lines, as JSON. */
  readonly log: readonly string[];
  readonly poll: () => Promise<RunReport>;
  readonly pollProfile: () => Promise<RunReport>;
  /** Stops the worker, as SIGTERM does. */
  readonly stop: () => void;
  /** The rows of a query over another connection. */
  readonly rows: (sql: string) => readonly Row[];
};

export type BenchOptions = {
  /** Holds the database; only the file's path is used. */
  readonly folder: Pick<Folder, 'file'>;
  readonly url: string;
  /** Settings by their names without `LEAGUE_SYNC_`; an empty one is left out. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The clock of the runs. */
  readonly clock?: Clock;
  /** How the published copy is made. */
  readonly copy?: CopyDatabase;
};

/** A bench with a folder and a handwritten service of its own. */
export type ServedBench = Awaited<ReturnType<typeof setUpBench>>;

/** Starts a service with these replies, and opens a bench for it in an empty folder, unless one is given. */
export async function setUpBench(replies: Replies = {}, options: Partial<BenchOptions> = {}) {
  const all = new AsyncDisposableStack();
  const folder = options.folder ?? all.use(makeFolder());
  const service = all.use(await startService(replies));
  const bench = all.use(await openBench({ url: service.url, ...options, folder }));
  /** One poll that is answered with these elements. */
  const pollWith = (elements: readonly unknown[]): Promise<RunReport> => {
    service.script('leagues', listLeagues(elements));
    return bench.poll();
  };
  return { ...bench, folder, service, pollWith, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

export function lastRun({ rows }: Bench): Row {
  return rows('SELECT * FROM runs ORDER BY id DESC LIMIT 1')[0] ?? {};
}

export async function openBench({ folder, url, settings = {}, clock, copy }: BenchOptions): Promise<Bench> {
  const path = folder.file('leagues.db');
  const log: string[] = [];
  const stopping = new AbortController();
  await placeEmpty(path);
  const place = await openWorker(loadConfig(readSettings(settingsFor(path, url, settings)), {}), {
    system: REAL_SYSTEM,
    log: pino({ level: 'trace' }, { write: (line: string) => log.push(line) }),
    pid: process.pid,
    command: 'run',
    firstReason: 'manual',
    copy: copy ?? (() => Promise.reject(new Error('this test copies nothing'))),
    signal: stopping.signal,
    emit: () => undefined,
  });
  const deps = clock === undefined ? place.deps : { ...place.deps, clock };
  const stop = (): void => stopping.abort(new StoppedError());
  return {
    path,
    place,
    deps,
    log,
    stop,
    poll: () => pollLeagues(deps, 'manual', stopping.signal),
    pollProfile: async () => (await pollProfile(deps, 'manual', stopping.signal)).report,
    rows: (sql) => readRows(path, sql),
    [Symbol.asyncDispose]: async () => {
      stop();
      await place[Symbol.asyncDispose]();
    },
  };
}

function settingsFor(path: string, url: string, settings: Readonly<Record<string, string>>) {
  const named = Object.entries(settings).map(([name, value]) => [`LEAGUE_SYNC_${name}`, value]);
  const all: Readonly<Record<string, string>> = {
    LEAGUE_SYNC_BASE_URL: url,
    LEAGUE_SYNC_USERNAME: USERNAME,
    LEAGUE_SYNC_PASSWORD: PASSWORD,
    LEAGUE_SYNC_DATABASE: path,
    ...Object.fromEntries(named),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}
