import { InvalidArgumentError, Option, Command as Program } from 'commander';
import { formatInstant } from './clock.ts';
import type { Command } from './commands/host.ts';
import { parseDuration } from './duration.ts';
import { nearName } from './near-name.ts';
import { findPackage } from './package.ts';
import { faults } from './simulator/faults.ts';
import type { FeedStart } from './store/queries/feed.ts';
import { parseInstant } from './time/timestamp.ts';

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
const loadProbe = async () => (await import('./commands/probe.ts')).probe;
const loadQuery = async () => (await import('./commands/query.ts')).query;
const loadChanges = async () => (await import('./commands/changes.ts')).changes;
const loadAccept = async () => (await import('./commands/accept-removals.ts')).acceptRemovals;
const loadCheck = async () => (await import('./commands/check.ts')).check;
const loadBackup = async () => (await import('./commands/backup.ts')).backup;
const loadCopy = async () => (await import('./commands/backup.ts')).copy;
const loadSimulate = async () => (await import('./commands/simulate.ts')).simulate;
const loadDemo = async () => (await import('./commands/demo.ts')).demo;

const SIMULATOR_PORT = 8080;
const TOKEN_LIFE_MS = 3_600_000;
/** Timers cannot count further. */
const LONGEST_INTERVAL_MS = 2 ** 31 - 1;

const CHANGE_SIGNS = `
At a terminal the signs stand for: + added, ~ changed, − removed, ↺ restored. In a pipe each line has the word and the
league_id.`;

/** The command line: what can be asked, and how it is explained. */
export function createProgram(execute: Execute): Program {
  const program = new Program('league-sync')
    .description('Keeps a sports service’s leagues in a SQLite database that any tool can query.')
    .version(findPackage().version)
    .exitOverride()
    .showHelpAfterError('(see league-sync --help)')
    .addHelpText('after', '\nSettings are environment variables named LEAGUE_SYNC_…; see the README and .env.example.');
  addWorkerCommands(program, execute);
  addReports(program, execute);
  addCommandsOnRows(program, execute);
  addCopies(program, execute);
  addSimulate(program, execute);
  program
    .command('demo')
    .description('the simulated service and the worker together, on a database of its own')
    .option('--for <duration>', 'end by itself after this long, such as 30s', readDuration)
    .action((options) => execute(loadDemo, { forMs: options.for }, 'lasts'));
  for (const command of program.commands) command.showHelpAfterError(`(see league-sync ${command.name()} --help)`);
  return program;
}

function addWorkerCommands(program: Program, execute: Execute): void {
  program
    .command('run', { isDefault: true })
    .description('the worker: logs in, keeps a valid token, polls on schedule, until it is stopped')
    .usage('[options]')
    // The default command is handed whatever is the name of none.
    .allowExcessArguments()
    .action((_, { args: [word] }: Program) => {
      if (word !== undefined) return program.error(describeUnknown(word, program));
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
  program
    .command('check')
    .description('look at everything that can go wrong and say what to do about it; changes nothing')
    .option('--json', 'one JSON object')
    .action((options) => execute(loadCheck, options, 'reads'));
}

/** In the words that commander has for an unknown option. */
function describeUnknown(word: string, program: Program): string {
  const commands = program.createHelp().visibleCommands(program);
  const near = nearName(
    word,
    commands.map((command) => command.name()),
  );
  return `error: there is no command "${word}"${near === undefined ? '' : `\n(Did you mean ${near}?)`}`;
}

function addReports(program: Program, execute: Execute): void {
  program
    .command('status')
    .description('whether the data is up to date, then what the database says: leagues, last runs, held removals')
    .option('--json', 'one JSON object')
    .option('--fail-if-stale', 'exit 1 if the data is stale, or if there is none yet')
    .addOption(
      new Option('--probe', 'ask a running worker whether it is live: exit 0 or 1').conflicts(['json', 'failIfStale']),
    )
    .action(({ probe, ...options }) =>
      probe ? execute(loadProbe, {}, 'reads') : execute(loadStatus, options, 'reads'),
    );
  program
    .command('changes')
    .description('the change feed, newest last: the newest 50, or all since a number or a time')
    .option(
      '--since <seq|time>',
      'all after this change (digits), or from this ISO date or instant on (UTC)',
      readStart,
    )
    .option('--league <id>', 'of this league alone')
    .option('--limit <n>', 'at most so many: the newest, or with --since the oldest', readCount)
    .option('--ids', 'show the ids of the leagues at a terminal, too')
    .option('--json', 'one JSON object a line')
    .addHelpText('after', CHANGE_SIGNS)
    .action((options) => execute(loadChanges, options, 'reads'));
}

function addCommandsOnRows(program: Program, execute: Execute): void {
  program
    .command('query')
    .description('run one SQL statement that only reads, and print its rows')
    .argument('<sql>', 'the statement; - reads it from stdin')
    .addOption(
      new Option('--format <format>', 'how rows are printed').choices(['table', 'json', 'csv']).default('table'),
    )
    .action((sql, { format }) => execute(loadQuery, { sql, format }, 'reads'));
  program
    .command('accept-removals')
    .description('show the removals that are held, and let them pass with the next poll')
    .option('--yes', 'accept those held at this instant without asking')
    .action((options) => execute(loadAccept, options, 'reads'));
}

function addCopies(program: Program, execute: Execute): void {
  program
    .command('backup')
    .description('a consistent copy of the database, safe while the worker runs')
    .argument('<file>', 'where to; nothing may be there yet')
    .action((file) => execute(loadBackup, { file }, 'ends'));
  program
    .command('copy', { hidden: true })
    .argument('<path>')
    .argument('<target>')
    .option('--part <file>')
    .option('--published')
    // A supervisor may send SIGTERM to this process too (systemd stops the whole cgroup): the parent decides when it ends.
    .action((path, target, options) => execute(loadCopy, { path, target, ...options }, 'lasts'));
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
  const width = Math.max(...faults.map(({ name }) => name.length)) + 2;
  return faults.map(({ name, description }) => `  ${name.padEnd(width)}${description}`).join('\n');
}

function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 1) throw new InvalidArgumentError('Write a duration such as 500ms, 30s or 5m.');
  return ms;
}

/** Digits are a number in the feed; anything else is a date or an instant. */
function readStart(text: string): FeedStart {
  if (/^\d+$/.test(text)) return { afterSeq: Number(text) };
  const instant = parseInstant(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  if (instant === undefined)
    throw new InvalidArgumentError('Write a number of the feed, a date such as 2026-11-20, or 2026-11-20T12:00:00Z.');
  return { sinceAt: formatInstant(instant) };
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Write a whole number from 1.');
  return Number(text);
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
