import { InvalidArgumentError, Option, Command as Program } from 'commander';
import type { Command } from './commands/host.ts';
import { parseDuration } from './duration.ts';
import { findPackage } from './package.ts';
import { faults } from './simulator/fault.ts';

/**
 * Runs a command. One that `lasts` ends well when it is stopped; one that `ends` by itself was then cut short; one that
 * only `reads` holds nothing that would have to be put in order, and is ended by the signal itself.
 */
export type Execute = <Options>(
  load: () => Promise<Command<Options>>,
  options: Options,
  life: 'lasts' | 'ends' | 'reads',
) => Promise<void>;

// Loaded when they are asked for, so that a quick question does not pay for the worker.
const loadRun = async () => (await import('./commands/run.ts')).run;
const loadSync = async () => (await import('./commands/sync.ts')).sync;
const loadProfile = async () => (await import('./commands/profile.ts')).profile;
const loadStatus = async () => (await import('./commands/status.ts')).status;
const loadQuery = async () => (await import('./commands/query.ts')).query;
const loadSimulate = async () => (await import('./commands/simulate.ts')).simulate;
const loadDemo = async () => (await import('./commands/demo.ts')).demo;

const SIMULATOR_PORT = 8080;
const TOKEN_LIFE_MS = 3_600_000;
/** Timers cannot count further. */
const LONGEST_INTERVAL_MS = 2 ** 31 - 1;

/** The command line: what can be asked, and how it is explained. */
export function createProgram(execute: Execute): Program {
  const program = new Program('league-sync')
    .description('Keeps a sports service’s leagues in a SQLite database that any tool can query.')
    .version(findPackage().version)
    .exitOverride()
    .showHelpAfterError('(see league-sync --help)')
    .addHelpText('after', '\nSettings are environment variables named LEAGUE_SYNC_…; see the README and .env.example.');
  addWorkerCommands(program, execute);
  addDatabaseCommands(program, execute);
  addSimulate(program, execute);
  program
    .command('demo')
    .description('the simulated service and the worker together, on a database of its own')
    .option('--for <duration>', 'end by itself after this long, such as 30s', readDuration)
    .action((options) => execute(loadDemo, { forMs: options.for }, 'lasts'));
  return program;
}

function addWorkerCommands(program: Program, execute: Execute): void {
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

function addDatabaseCommands(program: Program, execute: Execute): void {
  program
    .command('status')
    .description('what the database says: freshness, leagues, last runs, token expiry, held removals')
    .option('--json', 'one JSON object')
    .action((options) => execute(loadStatus, options, 'reads'));
  program
    .command('query')
    .description('run one SQL statement that only reads, and print its rows')
    .argument('<sql>', 'the statement')
    .addOption(
      new Option('--format <format>', 'how rows are printed').choices(['table', 'json', 'csv']).default('table'),
    )
    .action((sql, { format }) => execute(loadQuery, { sql, format }, 'reads'));
}

function addSimulate(program: Program, execute: Execute): void {
  program
    .command('simulate')
    .description('the simulated service, for tests, demos and rehearsals')
    .option('--port <port>', 'where to listen; 0 takes any free port', readPort, SIMULATOR_PORT)
    .option('--leagues <file>', 'a JSON list of leagues (default: a bundled list of real ones)')
    .option('--username <name>', 'who may log in', 'player')
    .option('--password <password>', 'with which password', 'secret-password')
    .option('--token-life <duration>', 'how long a token lives (default: 1h)', readDuration)
    .option('--churn <duration>', 'how often leagues change (default: never)', readInterval)
    .option('--fault <name>', 'switch a fault on from the start; repeatable', collect, [])
    .addHelpText('after', () => `\nFaults, switched while it runs by PUT and DELETE /_faults/NAME:\n${listFaults()}`)
    .action(({ leagues, tokenLife, churn, fault, ...options }) =>
      execute(
        loadSimulate,
        {
          ...options,
          tokenLifeMs: tokenLife ?? TOKEN_LIFE_MS,
          churnMs: churn ?? 0,
          faults: fault,
          leaguesFile: leagues,
        },
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

function readInterval(text: string): number {
  const ms = readDuration(text);
  if (ms > LONGEST_INTERVAL_MS) throw new InvalidArgumentError('Write a duration of at most 24d.');
  return ms;
}

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Write a port from 0 to 65535.');
  return Number(text);
}

function collect(value: string, collected: readonly string[]): readonly string[] {
  return [...collected, value];
}
