import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.ts';
import { runCommand, startWorker } from './command.ts';
import { type Row, readRows } from './database.ts';
import { makeFolder } from './folder.ts';
import {
  type Environment,
  type Exit,
  type ProgramOptions,
  type RunningProgram,
  runProgram,
  startProgram,
} from './program.ts';

export const USERNAME = 'player';
export const PASSWORD = 'secret-password';

/** A working directory of its own, and the program in it with the settings for one service. */
export type Bench = {
  readonly folder: string;
  readonly database: string;
  readonly env: Environment;
  /** Runs a command to its end, in this process if nothing is set for Node itself. `env` adds to the bench's own settings. */
  readonly run: (args: readonly string[], env?: Environment) => Promise<Exit>;
  /** The same in a process of its own. */
  readonly runProcess: (args: readonly string[], env?: Environment, more?: Outlet) => Promise<Exit>;
  /** Starts a worker in this process. */
  readonly startWorker: (env?: Environment) => RunningProgram;
  /** Starts a command that keeps running, in a process of its own. */
  readonly start: (args: readonly string[], env?: Environment, more?: Outlet) => RunningProgram;
  readonly rows: (sql: string) => readonly Row[];
};

/** Redirections of stdout, and the command that runs the program. */
type Outlet = Pick<ProgramOptions, 'stdout' | 'into' | 'through'>;

export type SimulatedBench = Bench & { readonly simulator: Simulator };

/** A bench for the service at this address. Polls come at start and when asked for, unless a schedule is set. */
export function setUpFor(baseUrl: string): Bench {
  const { path: folder } = makeFolder();
  const database = join(folder, 'data', 'leagues.db');
  const env = {
    LEAGUE_SYNC_BASE_URL: baseUrl,
    LEAGUE_SYNC_USERNAME: USERNAME,
    LEAGUE_SYNC_PASSWORD: PASSWORD,
    LEAGUE_SYNC_LISTEN: 'off',
    LEAGUE_SYNC_SCHEDULE: SELDOM,
    LEAGUE_SYNC_PROFILE_SCHEDULE: 'off',
  };
  const optionsWith = (more: Environment) => ({ cwd: folder, env: { ...env, ...more } });
  return {
    folder,
    database,
    env,
    run: (args, more = {}) => (isForNode(more) ? runProgram : runCommand)(args, optionsWith(more)),
    runProcess: (args, more = {}, outlet = {}) => runProgram(args, { ...optionsWith(more), ...outlet }),
    startWorker: (more = {}) => startWorker(optionsWith(more)),
    start: (args, more = {}, outlet = {}) => startProgram(args, { ...optionsWith(more), ...outlet }),
    rows: (sql) => readRows(database, sql),
  };
}

/** The same bench with more settings. */
export function addSettings<B extends Bench>(bench: B, more: Environment): B {
  return {
    ...bench,
    env: { ...bench.env, ...more },
    run: (args, env) => bench.run(args, { ...more, ...env }),
    runProcess: (args, env, outlet) => bench.runProcess(args, { ...more, ...env }, outlet),
    startWorker: (env) => bench.startWorker({ ...more, ...env }),
    start: (args, env, outlet) => bench.start(args, { ...more, ...env }, outlet),
  };
}

/** Whether a variable is for Node itself, which reads it when a process starts. */
function isForNode(env: Environment): boolean {
  return Object.keys(env).some((name) => name.startsWith('NODE_'));
}

/** Scheduled once in four years, so never during a test run. */
const SELDOM = '0 0 29 2 *';
export const EVERY_SECOND = '* * * * * *';

/** A bench with a simulated service of its own. */
export async function setUp(options: SimulatorOptions = {}): Promise<SimulatedBench> {
  const simulator = await startSimulator({ username: USERNAME, password: PASSWORD, ...options });
  onTestFinished(() => simulator.close());
  return { ...setUpFor(simulator.url), simulator };
}

/** The same, with the leagues of the service in the database. */
export async function setUpSynced(options: SimulatorOptions = {}): Promise<SimulatedBench> {
  const bench = await setUp(options);
  expect((await bench.run(['sync'])).code).toBe(0);
  return bench;
}

/** The number of logins that the service received. */
export function countLogins({ requests }: Simulator): number {
  return requests.filter((seen) => seen.basic !== undefined).length;
}

/** The requests for leagues that the service has seen. */
export function leagueRequests({ requests }: Simulator): Simulator['requests'] {
  return requests.filter((seen) => seen.path.startsWith('/events/v1/leagues/'));
}
