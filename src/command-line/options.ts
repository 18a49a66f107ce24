import { Option, type OptionValues, Command as Program } from 'commander';
import type { Command, Mode } from '../commands/command.ts';
import { findPackage } from '../package.ts';
import { faults } from '../simulator/faults.ts';
import { DEMO_SECRET } from '../simulator/receiver.ts';
import { KINDS } from '../store/queries/changed-polls.ts';
import { readCount, readDuration, readInterval, readPath, readPort, readStart } from './arguments.ts';
import { addExamples, addToHelp, fitTerminal, type Output } from './help.ts';

export type Execute = <Options>(load: () => Promise<Command<Options>>, options: Options, mode: Mode) => Promise<void>;

/** Adds a command, which is loaded when it is called. To the command, its arguments are options, too. */
type Add = <Options extends OptionValues>(
  name: string,
  mode: Mode | ((options: Options) => Mode),
  load: (options: Options) => Promise<Command<Options>>,
  visibility?: { readonly hidden: boolean },
) => Program;

const CHANGE_SIGNS =
  'Signs at a terminal: + added, ~ changed, − removed, ↺ restored. In a pipe, each line has the word instead of the sign, and also the league_id.';

/** After printing help, the version or a usage error, `parseAsync` rejects with a CommanderError. */
export function createProgram(execute: Execute, io: Output): Program {
  const program = fitTerminal(new Program('league-sync'), io)
    .description("Keeps a sports service's leagues in a SQLite database that any tool can query.")
    .version(findPackage().version)
    .exitOverride()
    .showHelpAfterError('(see league-sync --help)');
  const addTo = (parent: Program): Add =>
    function add(name, mode, load, visibility) {
      const command = parent.command(name, visibility);
      return command.action(() => {
        const named = command.registeredArguments.map((argument, index) => [argument.name(), command.args[index]]);
        const options = Object.assign(command.optsWithGlobals(), Object.fromEntries(named));
        return execute(() => load(options), options, typeof mode === 'string' ? mode : mode(options));
      });
    };
  addServiceCommands(addTo(program));
  addDatabaseCommands(addTo(program));
  addCopyCommands(addTo(program));
  const aboutWebhook = 'test, repeat or skip what is sent to LEAGUE_SYNC_WEBHOOK_URL';
  addWebhookCommands(addTo(program.command('webhook').description(aboutWebhook)));
  addMirrorCommands(addTo(program), addTo);
  addSimulatorCommands(addTo(program));
  for (const command of program.commands) command.showHelpAfterError(`(see league-sync ${command.name()} --help)`);
  refuseRepeated(program);
  addExamples(program);
  return addToHelp(
    program,
    'Settings are environment variables named LEAGUE_SYNC_…; see docs/configuration.md and .env.example.',
  );
}

const databaseOption = (): Option =>
  new Option('--database <file>', 'use this database instead of LEAGUE_SYNC_DATABASE').argParser(readPath);

const sinceOption = (): Option =>
  new Option(
    '--since <seq|time>',
    'all changes after this change number (seq), or since this date or timestamp (UTC unless it has an offset), or since a duration ago, such as 2d',
  ).argParser(readStart);

const jsonOption = (): Option => new Option('--json', 'print one JSON object');

function addServiceCommands(add: Add): void {
  add('run', 'daemon', async () => (await import('../commands/run.ts')).run).description(
    'start the worker: log in, keep a valid token and poll on schedule until stopped',
  );
  add('sync', 'oneShot', async () => (await import('../commands/sync.ts')).sync)
    .description('poll once and exit')
    .option('--dry-run', 'print what would change; write and record nothing')
    .option('--service-moved', 'let this database, which belongs to another base URL, belong to this one from now on');
  add('profile', 'oneShot', async () => (await import('../commands/profile.ts')).profile)
    .description("log in, print the player's profile and store it")
    .addOption(jsonOption());
  add('check', 'oneShot', async () => (await import('../commands/check.ts')).check)
    .description('check settings, database, network and service, and say how to fix each problem; changes nothing')
    .addOption(jsonOption())
    .addOption(
      new Option('--report <file>', 'also write what a bug report needs, without secrets').argParser(readPath),
    );
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

function addDatabaseCommands(add: Add): void {
  const probeOption = new Option('--probe', 'exit 0 if a worker answers at LEAGUE_SYNC_LISTEN, otherwise 1');
  add('status', 'readOnly', async ({ probe }) =>
    probe ? (await import('../commands/probe.ts')).probe : (await import('../commands/status.ts')).status,
  )
    .description('show whether the data is up to date, what needs attention, the number of leagues, and the last runs')
    .addOption(jsonOption())
    .option('--fail-if-stale', 'exit 1 if the data is stale or no poll has succeeded yet')
    .addOption(probeOption.conflicts(['json', 'failIfStale', 'database']))
    .addOption(databaseOption());
  const changes = add(
    'changes',
    ({ follow }) => (follow ? 'follow' : 'readOnly'),
    async () => (await import('../commands/changes.ts')).changes,
  )
    .description('show the newest 50 changes, oldest first; with --since, show all changes from that point on')
    .addOption(sinceOption())
    .option('--league <id|name>', 'only this league')
    .addOption(new Option('--kind <kind>', 'only changes of this kind').choices(KINDS))
    .option('--limit <n>', 'show at most this many: the newest or, with --since, the oldest', readCount)
    .option('--json', 'print one JSON object per line')
    .option('--follow', 'go on with new changes as they come, until stopped')
    .addOption(databaseOption());
  addToHelp(changes, CHANGE_SIGNS);
  add('poll', 'oneShot', async () => (await import('../commands/poll.ts')).poll)
    .description('have the worker of this database poll now, as SIGHUP does, and print the result')
    .addOption(databaseOption());
  add('query', 'readOnly', async () => (await import('../commands/query.ts')).query)
    .description('run one read-only SQL statement and print its rows')
    .argument('<sql>', 'the statement, or - to read it from stdin')
    .addOption(
      new Option('--format <format>', 'output format').choices(['table', 'json', 'ndjson', 'csv']).default('table'),
    )
    .addOption(databaseOption());
}

function addCopyCommands(add: Add): void {
  add('accept-removals', 'oneShot', async () => (await import('../commands/accept-removals.ts')).acceptRemovals)
    .description('show removals that polls held back and, after you confirm, let the next poll apply them')
    .option('--yes', 'accept all removals held now, without asking for confirmation')
    .addOption(databaseOption());
  add('backup', 'oneShot', async () => (await import('../commands/backup.ts')).backup)
    .description('make a consistent copy of the database; safe while the worker runs')
    .argument('<file>', 'target file; must not exist')
    .addOption(databaseOption());
  add('verify', 'readOnly', async () => (await import('../commands/verify.ts')).verify)
    .description('say whether a database, backup, published copy or restored replica is whole; changes nothing')
    .argument('<file>', 'the file to read')
    .addOption(new Option('--against <file>', 'also say how many changes of this file it lacks').argParser(readPath))
    .addOption(jsonOption());
  // In mode `daemon`, a SIGTERM to the whole cgroup (systemd) neither ends the copy nor changes its exit code.
  add('copy', 'daemon', async () => (await import('../commands/backup.ts')).copy, { hidden: true })
    .argument('<path>')
    .argument('<target>')
    .option('--part <file>')
    .addOption(new Option('--replace <copies>').choices(['earlier', 'published']).default('earlier'))
    .requiredOption('--parent <pid>', 'the process that wants the copy', Number);
}

function addWebhookCommands(add: Add): void {
  const load = () => import('../commands/webhook.ts');
  add('test', 'oneShot', async () => (await load()).testWebhook).description(
    'send a test message and say what came back; exit 1 if it was not accepted',
  );
  add('replay', 'readOnly', async () => (await load()).replayWebhook)
    .description('queue all changes after a point for sending again, as new messages; the worker sends them')
    .addOption(sinceOption().makeOptionMandatory())
    .addOption(databaseOption());
  add('skip', 'readOnly', async () => (await load()).skipWebhook)
    .description('discard what is pending; later changes are sent as usual')
    .addOption(databaseOption());
}

function addMirrorCommands(add: Add, addTo: (parent: Program) => Add): void {
  const load = () => import('../commands/mirror.ts');
  const mirror = add('mirror', 'oneShot', async () => (await load()).mirror)
    .description('bring the mirror in PostgreSQL (LEAGUE_SYNC_POSTGRES_URL) up to date once')
    .addOption(databaseOption());
  addTo(mirror)('rebuild', 'oneShot', async () => (await load()).rebuild)
    .description('rebuild the mirror beside the old one, then replace it')
    .addOption(databaseOption());
  add('mirror-process', 'readOnly', async () => (await load()).mirrorProcess, { hidden: true });
}

function addSimulatorCommands(add: Add): void {
  const simulate = add('simulate', 'daemon', async () => (await import('../commands/simulate.ts')).simulate)
    .description('run the simulated service, for tests, demos and rehearsals')
    .option('--port <port>', 'port to listen on; 0 takes any free port', readPort, 8080)
    .option('--leagues <file>', 'JSON file with a list of leagues (default: a bundled list of real leagues)')
    .option('--username <name>', 'accepted username', 'player')
    .option('--password <password>', 'accepted password', 'secret-password')
    .addOption(
      new Option('--token-life <duration>', 'lifetime of a token').argParser(readDuration).default(3_600_000, '1h'),
    )
    .addOption(new Option('--churn <duration>', 'how often leagues change').argParser(readInterval).default(0, 'never'))
    .option('--fault <name...>', 'switch on a fault at start; repeatable');
  addToHelp(
    simulate,
    'Faults (while the service runs, PUT /_faults/NAME switches one on, and DELETE switches it off):',
    faults.map(({ name, description }) => [name, description]),
  );
  addToHelp(simulate, `Webhooks are received at /_webhooks if they are signed with the secret ${DEMO_SECRET}.`);
  add('demo', 'daemon', async () => (await import('../commands/demo.ts')).demo)
    .description('run the simulated service and a worker together, with a separate database')
    .option('--for <duration>', 'stop after this time, such as 30s', readInterval);
}
