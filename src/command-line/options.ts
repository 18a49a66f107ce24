import { Option, Command as Program } from 'commander';
import type { Command, Mode } from '../commands/command.ts';
import { findPackage } from '../package.ts';
import { faults } from '../simulator/faults.ts';
import { DEMO_SECRET } from '../simulator/receiver.ts';
import { KINDS } from '../store/queries/changed-polls.ts';
import { readCount, readDuration, readInterval, readPath, readPort, readStart } from './arguments.ts';
import { addExamples, addToHelp, fitTerminal, type Output } from './help.ts';

export type Execute = <Options>(load: () => Promise<Command<Options>>, options: Options, mode: Mode) => Promise<void>;

const CHANGE_SIGNS =
  'Signs at a terminal: + added, ~ changed, − removed, ↺ restored. In a pipe, each line has the word instead of the sign, and also the league_id.';

/** After printing help, the version or a usage error, `parseAsync` rejects with a CommanderError. */
export function createProgram(execute: Execute, io: Output): Program {
  const program = fitTerminal(new Program('league-sync'), io)
    .description("Keeps a sports service's leagues in a SQLite database that any tool can query.")
    .version(findPackage().version)
    .exitOverride()
    .showHelpAfterError('(see league-sync --help)');
  addServiceCommands(program, execute);
  addDatabaseCommands(program, execute);
  addCopyCommands(program, execute);
  addWebhookCommands(program, execute);
  addMirrorCommands(program, execute);
  addSimulatorCommands(program, execute);
  for (const command of program.commands) command.showHelpAfterError(`(see league-sync ${command.name()} --help)`);
  refuseRepeated(program);
  addExamples(program);
  return addToHelp(
    program,
    'Settings are environment variables named LEAGUE_SYNC_…; see docs/configuration.md and .env.example.',
  );
}

function addServiceCommands(program: Program, execute: Execute): void {
  program
    .command('run')
    .description('start the worker: log in, keep a valid token and poll on schedule until stopped')
    .action((options) => execute(async () => (await import('../commands/run.ts')).run, options, 'daemon'));
  program
    .command('sync')
    .description('poll once and exit')
    .option('--dry-run', 'print what would change; write and record nothing')
    .option('--service-moved', 'let this database, which belongs to another base URL, belong to this one from now on')
    .action((options) => execute(async () => (await import('../commands/sync.ts')).sync, options, 'oneShot'));
  program
    .command('profile')
    .description("log in, print the player's profile and store it")
    .option('--json', 'print one JSON object')
    .action((options) => execute(async () => (await import('../commands/profile.ts')).profile, options, 'oneShot'));
  program
    .command('check')
    .description('check settings, database, network and service, and say how to fix each problem; changes nothing')
    .option('--json', 'print one JSON object')
    .addOption(new Option('--report <file>', 'also write what a bug report needs, without secrets').argParser(readPath))
    .action((options) => execute(async () => (await import('../commands/check.ts')).check, options, 'readOnly'));
}

/** Of an option that is given twice, also once before and once behind a subcommand, one value would be ignored. */
function refuseRepeated(command: Program, given = new Set<string>()): void {
  for (const option of command.options.filter((option) => !option.variadic && !option.isBoolean()))
    command.on(`option:${option.name()}`, () => {
      if (given.has(option.name())) command.error(`error: option '--${option.name()}' is given twice`);
      given.add(option.name());
    });
  for (const subcommand of command.commands) refuseRepeated(subcommand, given);
}

function addDatabaseCommands(program: Program, execute: Execute): void {
  const probeOption = new Option('--probe', 'exit 0 if a worker answers at LEAGUE_SYNC_LISTEN, otherwise 1');
  const loadProbe = async () => (await import('../commands/probe.ts')).probe;
  const loadStatus = async () => (await import('../commands/status.ts')).status;
  const loadChanges = async () => (await import('../commands/changes.ts')).changes;
  program
    .command('status')
    .description('show whether the data is up to date, what needs attention, the number of leagues, and the last runs')
    .option('--json', 'print one JSON object')
    .option('--fail-if-stale', 'exit 1 if the data is stale or no poll has succeeded yet')
    .addOption(probeOption.conflicts(['json', 'failIfStale', 'database']))
    .addOption(databaseOption())
    .action(({ probe, ...options }) =>
      probe ? execute(loadProbe, {}, 'readOnly') : execute(loadStatus, options, 'readOnly'),
    );
  const changes = program
    .command('changes')
    .description('show the newest 50 changes, oldest first; with --since, show all changes from that point on')
    .addOption(sinceOption())
    .option('--league <id|name>', 'only this league')
    .addOption(new Option('--kind <kind>', 'only changes of this kind').choices(KINDS))
    .option('--limit <n>', 'show at most this many: the newest or, with --since, the oldest', readCount)
    .option('--json', 'print one JSON object per line')
    .option('--follow', 'go on with new changes as they come, until stopped')
    .addOption(databaseOption())
    .action((options) => execute(loadChanges, options, options.follow ? 'follow' : 'readOnly'));
  addToHelp(changes, CHANGE_SIGNS);
  program
    .command('poll')
    .description('have the worker of this database poll now, as SIGHUP does, and print the result')
    .addOption(databaseOption())
    .action((options) => execute(async () => (await import('../commands/poll.ts')).poll, options, 'readOnly'));
  program
    .command('query')
    .description('run one read-only SQL statement and print its rows')
    .argument('<sql>', 'the statement, or - to read it from stdin')
    .addOption(
      new Option('--format <format>', 'output format').choices(['table', 'json', 'ndjson', 'csv']).default('table'),
    )
    .addOption(databaseOption())
    .action((sql, options) =>
      execute(async () => (await import('../commands/query.ts')).query, { sql, ...options }, 'readOnly'),
    );
}

const sinceOption = (): Option =>
  new Option(
    '--since <seq|time>',
    'all changes after this change number (seq), or since this date or timestamp (UTC unless it has an offset), or since a duration ago, such as 2d',
  ).argParser(readStart);

const databaseOption = (): Option =>
  new Option('--database <file>', 'use this database instead of LEAGUE_SYNC_DATABASE').argParser(readPath);

function addCopyCommands(program: Program, execute: Execute): void {
  program
    .command('accept-removals')
    .description('show removals that polls held back and, after you confirm, let the next poll apply them')
    .option('--yes', 'accept all removals held now, without asking for confirmation')
    .addOption(databaseOption())
    .action((options) =>
      execute(async () => (await import('../commands/accept-removals.ts')).acceptRemovals, options, 'readOnly'),
    );
  program
    .command('backup')
    .description('make a consistent copy of the database; safe while the worker runs')
    .argument('<file>', 'target file; must not exist')
    .addOption(databaseOption())
    .action((file, options) =>
      execute(async () => (await import('../commands/backup.ts')).backup, { file, ...options }, 'oneShot'),
    );
  program
    .command('verify')
    .description('say whether a database, backup, published copy or restored replica is whole; changes nothing')
    .argument('<file>', 'the file to read')
    .addOption(new Option('--against <file>', 'also say how many changes of this file it lacks').argParser(readPath))
    .option('--json', 'print one JSON object')
    .action((file, options) =>
      execute(async () => (await import('../commands/verify.ts')).verify, { file, ...options }, 'readOnly'),
    );
  program
    .command('copy', { hidden: true })
    .argument('<path>')
    .argument('<target>')
    .option('--part <file>')
    .addOption(new Option('--replace <copies>').choices(['earlier', 'published']).default('earlier'))
    .requiredOption('--parent <pid>', 'the process that wants the copy', Number)
    // In mode `daemon`, a SIGTERM to the whole cgroup (systemd) neither ends the copy nor changes its exit code.
    .action((path, target, options) =>
      execute(async () => (await import('../commands/backup.ts')).copy, { path, target, ...options }, 'daemon'),
    );
}

function addWebhookCommands(program: Program, execute: Execute): void {
  const load = () => import('../commands/webhook.ts');
  const webhook = program
    .command('webhook')
    .description('test, repeat or skip what is sent to LEAGUE_SYNC_WEBHOOK_URL');
  webhook
    .command('test')
    .description('send a test message and say what came back; exit 1 if it was not accepted')
    .action(() => execute(async () => (await load()).testWebhook, {}, 'oneShot'));
  webhook
    .command('replay')
    .description('queue all changes after a point for sending again, as new messages; the worker sends them')
    .addOption(sinceOption().makeOptionMandatory())
    .addOption(databaseOption())
    .action((options) => execute(async () => (await load()).replayWebhook, options, 'readOnly'));
  webhook
    .command('skip')
    .description('discard what is pending; later changes are sent as usual')
    .addOption(databaseOption())
    .action((options) => execute(async () => (await load()).skipWebhook, options, 'readOnly'));
}

function addMirrorCommands(program: Program, execute: Execute): void {
  const load = () => import('../commands/mirror.ts');
  const mirror = program
    .command('mirror')
    .description('bring the mirror in PostgreSQL (LEAGUE_SYNC_POSTGRES_URL) up to date once')
    .addOption(databaseOption())
    .action((options) => execute(async () => (await load()).mirror, options, 'oneShot'));
  mirror
    .command('rebuild')
    .description('rebuild the mirror beside the old one, then replace it')
    .addOption(databaseOption())
    .action((_, command: Program) => execute(async () => (await load()).rebuild, command.optsWithGlobals(), 'oneShot'));
  program
    .command('mirror-process', { hidden: true })
    .action(() => execute(async () => (await load()).mirrorProcess, {}, 'readOnly'));
}

function addSimulatorCommands(program: Program, execute: Execute): void {
  const simulate = program
    .command('simulate')
    .description('run the simulated service, for tests, demos and rehearsals')
    .option('--port <port>', 'port to listen on; 0 takes any free port', readPort, 8080)
    .option('--leagues <file>', 'JSON file with a list of leagues (default: a bundled list of real leagues)')
    .option('--username <name>', 'accepted username', 'player')
    .option('--password <password>', 'accepted password', 'secret-password')
    .addOption(
      new Option('--token-life <duration>', 'lifetime of a token').argParser(readDuration).default(3_600_000, '1h'),
    )
    .addOption(new Option('--churn <duration>', 'how often leagues change').argParser(readInterval).default(0, 'never'))
    .option('--fault <name...>', 'switch on a fault at start; repeatable')
    .action((options) => execute(async () => (await import('../commands/simulate.ts')).simulate, options, 'daemon'));
  addToHelp(
    simulate,
    'Faults (while the service runs, PUT /_faults/NAME switches one on, and DELETE switches it off):',
    faults.map(({ name, description }) => [name, description]),
  );
  addToHelp(simulate, `Webhooks are received at /_webhooks if they are signed with the secret ${DEMO_SECRET}.`);
  program
    .command('demo')
    .description('run the simulated service and a worker together, with a separate database')
    .option('--for <duration>', 'stop after this time, such as 30s', readInterval)
    .action((options) => execute(async () => (await import('../commands/demo.ts')).demo, options, 'daemon'));
}
