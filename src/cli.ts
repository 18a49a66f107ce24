import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { parseEnv } from 'node:util';
import { CommanderError, InvalidArgumentError, Option, Command as Program } from 'commander';
import type { Command, Host } from './commands/host.ts';
import { mergeEnvironment } from './config/environment.ts';
import { parseDuration } from './duration.ts';
import { EXIT, exitCodeOf, RunError, SettingsError, StoppedError, UsageError } from './errors.ts';
import { openLog } from './log.ts';
import { findPackage } from './package.ts';
import { faults } from './simulator/fault.ts';

/**
 * The program's one door to the process: arguments, environment, signals, exit code. Each command is loaded when it
 * is asked for, so that a quick question does not pay for the worker.
 */
const stopping = new AbortController();
const hangups: (() => void)[] = [];
let stoppedBy: 'SIGTERM' | 'SIGINT' | undefined;

const host: Host = {
  pid: process.pid,
  environment: process.env,
  settings: () => mergeEnvironment(process.env, readDotenv()),
  print: (text) => process.stdout.write(`${text}\n`),
  isTerminal: process.stdout.isTTY,
  openLog: (config, fd) => {
    const stream = fd === 1 ? process.stdout : process.stderr;
    return openLog(config, fd, stream.isTTY, stream.isTTY && !process.env.NO_COLOR);
  },
  stop: stopping.signal,
  onHangup: (callback) => hangups.push(callback),
};

function readDotenv(): Record<string, string | undefined> {
  if (!existsSync('.env')) return {};
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new SettingsError([`.env: it cannot be read (${code}); mend its permissions, or remove it`]);
  }
}

function listenToSignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // Asked twice: whatever is under way is cut short, and the database takes no harm from that.
      if (stoppedBy !== undefined) process.exit(128 + constants.signals[signal]);
      stoppedBy = signal;
      stopping.abort(new StoppedError());
    });
  }
  process.on('SIGHUP', () => {
    for (const hangup of hangups) hangup();
  });
  // A reader that went away (`| head`) has seen enough.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (!('code' in error) || error.code !== 'EPIPE') throw error;
    });
  }
  process.on('uncaughtException', (error) => {
    process.stderr.write(`league-sync ended on a fault of its own: ${error.name}\n${error.stack ?? ''}\n`);
    process.exit(EXIT.failed);
  });
}

let exitCode: number = EXIT.done;

type Load<Options> = () => Promise<Command<Options>>;

/** Runs a command to its exit code. One that `lasts` ends well when it is stopped; any other was cut short. */
async function execute<Options>(load: Load<Options>, options: Options, lasts: 'lasts' | 'ends'): Promise<void> {
  try {
    exitCode = await (await load())(host, options);
  } catch (error) {
    exitCode = stopping.signal.aborted ? EXIT.done : explain(error);
  }
  if (stoppedBy !== undefined && lasts === 'ends') exitCode = 128 + constants.signals[stoppedBy];
}

function explain(error: unknown): number {
  const code = exitCodeOf(error);
  const foreseen = code !== EXIT.failed || (error instanceof RunError && error.kind !== 'internal');
  if (!(error instanceof Error)) process.stderr.write('league-sync failed for an unknown reason.\n');
  else process.stderr.write(`league-sync: ${foreseen ? error.message : (error.stack ?? error.message)}\n`);
  return code;
}

const loadRun = async () => (await import('./commands/run.ts')).run;
const loadSync = async () => (await import('./commands/sync.ts')).sync;
const loadProfile = async () => (await import('./commands/profile.ts')).profile;
const loadStatus = async () => (await import('./commands/status.ts')).status;
const loadQuery = async () => (await import('./commands/query.ts')).query;
const loadSimulate = async () => (await import('./commands/simulate.ts')).simulate;
const loadDemo = async () => (await import('./commands/demo.ts')).demo;

function createProgram(): Program {
  const program = new Program('league-sync')
    .description('Keeps a sports service’s leagues in a SQLite database that any tool can query.')
    .version(findPackage().version)
    .exitOverride()
    .showHelpAfterError('(league-sync --help tells what there is)')
    .addHelpText('after', '\nSettings are environment variables named LEAGUE_SYNC_…; see the README and .env.example.');
  addWorkerCommands(program);
  addDatabaseCommands(program);
  addSimulate(program);
  program
    .command('demo')
    .description('the simulated service and the worker together, on a database of its own')
    .option('--for <duration>', 'end by itself after this long, such as 30s', readDuration)
    .action((options) => execute(loadDemo, { forMs: options.for }, 'lasts'));
  return program;
}

function addWorkerCommands(program: Program): void {
  program
    .command('run', { isDefault: true })
    .description('the worker: logs in, keeps a valid token, polls on schedule, until it is stopped')
    .usage('[options]')
    .argument('[nothing]')
    .action((word: string | undefined) => {
      // The default command is handed whatever is the name of none.
      if (word !== undefined) return program.error(`error: there is no command "${word}"`);
      return execute(loadRun, undefined, 'lasts');
    });
  program
    .command('sync')
    .description('one poll now, then exits')
    .option('--dry-run', 'print what would change; write and record nothing')
    .action((options) => execute(loadSync, options, 'ends'));
  program
    .command('profile')
    .description('log in, print the player’s profile and store it')
    .option('--json', 'one JSON object')
    .action((options) => execute(loadProfile, options, 'ends'));
}

function addDatabaseCommands(program: Program): void {
  program
    .command('status')
    .description('what the database says: freshness, leagues, last runs, token expiry, held removals')
    .option('--json', 'one JSON object')
    .action((options) => execute(loadStatus, options, 'ends'));
  program
    .command('query')
    .description('run one SQL statement that only reads, and print its rows')
    .argument('<sql>', 'the statement')
    .addOption(
      new Option('--format <format>', 'how rows are printed').choices(['table', 'json', 'csv']).default('table'),
    )
    .action((sql, { format }) => execute(loadQuery, { sql, format }, 'ends'));
}

function addSimulate(program: Program): void {
  program
    .command('simulate')
    .description('the simulated service, for tests, demos and rehearsals')
    .option('--port <port>', 'where to listen; 0 takes any free port', readPort, 8080)
    .option('--leagues <file>', 'a JSON list of leagues (default: 124 real ones)')
    .option('--username <name>', 'who may log in', 'player')
    .option('--password <password>', 'with which password', 'secret-password')
    .option('--token-life <duration>', 'how long a token lives (default: 1h)', readDuration)
    .option('--churn <duration>', 'how often leagues change (default: never)', readDuration)
    .option('--fault <name>', 'switch a fault on from the start; repeatable', collect, [])
    .addHelpText('after', () => `\nFaults, switched while it runs by PUT and DELETE /_faults/NAME:\n${listFaults()}`)
    .action(({ leagues, tokenLife, churn, fault, ...options }) =>
      execute(
        loadSimulate,
        { ...options, tokenLifeMs: tokenLife ?? 3_600_000, churnMs: churn ?? 0, faults: fault, leaguesFile: leagues },
        'lasts',
      ),
    );
}

function listFaults(): string {
  return faults.map(({ name, description }) => `  ${name.padEnd(16)}${description}`).join('\n');
}

function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 1) throw new InvalidArgumentError('Write a duration such as 500ms, 30s or 5m.');
  return ms;
}

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Write a port from 0 to 65535.');
  return Number(text);
}

function collect(value: string, collected: readonly string[]): readonly string[] {
  return [...collected, value];
}

async function main(): Promise<void> {
  listenToSignals();
  try {
    await createProgram().parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    else exitCode = explain(error instanceof Error ? error : new UsageError(String(error)));
  }
  process.exitCode = exitCode;
  // Everything has been closed by now; what still hangs about must not keep the process from ending.
  setTimeout(() => process.exit(exitCode), LINGER_MS).unref();
}

const LINGER_MS = 1_000;

void main();
