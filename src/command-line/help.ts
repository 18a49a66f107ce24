import { Help, type Command as Program } from 'commander';
import type { ProcessIO } from '../commands/command.ts';

type Item = readonly [term: string, description: string];

const DEFAULT_COLUMNS = 80;
/** If less is left beside a term, its description goes below it. */
const MIN_COLUMNS_BESIDE = 24;
const INDENT_BELOW = 6;
const GAP = '  ';

/** By name of the command. They are tested: each must be a valid command line. */
const EXAMPLES: Readonly<Record<string, readonly Item[]>> = {
  'league-sync': [
    ['league-sync demo', 'try it without settings'],
    ['league-sync check', 'see whether the settings work'],
    ['league-sync status', 'see whether the data is up to date'],
    ['league-sync changes --since 1d', 'see what changed in the last day'],
  ],
  run: [
    ['league-sync run', 'poll every five minutes'],
    ["LEAGUE_SYNC_SCHEDULE='0 * * * *' league-sync run", 'poll every hour'],
    ['LEAGUE_SYNC_LISTEN=off league-sync run', 'no status page'],
  ],
  sync: [
    ['league-sync sync --dry-run', 'see what would change'],
    ['league-sync sync', 'poll now'],
    ['LEAGUE_SYNC_LOG_LEVEL=info league-sync sync', 'also log each step to stderr'],
  ],
  profile: [
    ['league-sync profile', 'as a table'],
    ['league-sync profile --json', 'for a program'],
  ],
  check: [
    ['league-sync check', 'for people'],
    ['league-sync check --json', 'for a program'],
  ],
  status: [
    ['league-sync status', 'for people'],
    ['league-sync status --fail-if-stale', 'for a monitor'],
    ['league-sync status --probe', 'for the health check of a container'],
    ['league-sync status --database demo-data/leagues.db', 'of the demo'],
  ],
  changes: [
    ['league-sync changes --since 2d', 'the last two days'],
    ['league-sync changes --league NFL --limit 5', 'the newest of one league'],
    ['league-sync changes --kind removed --since 2026-11-01', 'removals since a day'],
    ['league-sync changes --follow --json', 'new changes, for a program'],
  ],
  poll: [
    ['league-sync poll', 'the worker on the database in the settings'],
    ['league-sync poll --database demo-data/leagues.db', 'the demo, while it runs'],
  ],
  query: [
    ['league-sync query "SELECT league_name, sport FROM active_leagues"', 'a table'],
    ['league-sync query --format csv "SELECT * FROM leagues"', 'for a spreadsheet'],
    ['league-sync query - <report.sql', 'a statement from a file'],
  ],
  'accept-removals': [
    ['league-sync accept-removals', 'show them, and ask'],
    ['league-sync accept-removals --yes', 'accept them without asking'],
  ],
  backup: [
    ['league-sync backup leagues-backup.db', 'of the database in the settings'],
    ['league-sync backup --database demo-data/leagues.db demo-backup.db', 'of the demo'],
  ],
  webhook: [
    ['league-sync webhook test', 'see whether the receiver answers'],
    ['league-sync webhook replay --since 1d', 'send the last day again'],
    ['league-sync webhook skip', 'send nothing older than now'],
  ],
  'webhook test': [
    ['league-sync webhook test', 'the receiver in the settings'],
    ['LEAGUE_SYNC_WEBHOOK_URL=https://example.com/hook league-sync webhook test', 'another one'],
  ],
  'webhook replay': [
    ['league-sync webhook replay --since 1d', 'the last day'],
    ['league-sync webhook replay --since 120', 'all changes after number 120'],
  ],
  'webhook skip': [
    ['league-sync webhook skip', 'of the database in the settings'],
    ['league-sync webhook skip --database leagues.db', 'of another database'],
  ],
  mirror: [
    ['league-sync mirror', 'bring it up to date, as from cron'],
    ['league-sync mirror rebuild', 'rebuild it, after the file was restored'],
  ],
  'mirror rebuild': [
    ['league-sync mirror rebuild', 'of the database in the settings'],
    ['league-sync mirror rebuild --database leagues.db', 'of another database'],
  ],
  simulate: [
    ['league-sync simulate', 'at http://127.0.0.1:8080'],
    ['league-sync simulate --port 0 --churn 5s', 'any free port, leagues that change'],
    ['league-sync simulate --fault rate-limit --fault etag', 'with faults'],
  ],
  demo: [
    ['league-sync demo', 'until Ctrl-C'],
    ['league-sync demo --for 30s', 'for half a minute'],
  ],
};

export type Output = Pick<ProcessIO, 'print' | 'printError' | 'terminal' | 'errorTerminal'>;

/** Makes help and usage errors fit the terminal. Commands that are added later inherit this. */
export function fitTerminal(program: Program, { print, printError, terminal, errorTerminal }: Output): Program {
  return program.configureHelp({ minWidthToWrap: 1, formatItem }).configureOutput({
    writeOut: (text) => void print(withoutLineEnd(text)),
    writeErr: (text) => printError(fold(withoutLineEnd(text), program.createHelp(), errorTerminal?.columns)),
    getOutHelpWidth: () => terminal?.columns ?? DEFAULT_COLUMNS,
    getErrHelpWidth: () => errorTerminal?.columns ?? DEFAULT_COLUMNS,
  });
}

/** Commander's texts end with a line break, but `print` adds one itself. */
function withoutLineEnd(text: string): string {
  return text.replace(/\n$/, '');
}

function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const columns = helper.helpWidth ?? DEFAULT_COLUMNS;
  if (columns - termWidth - 2 * GAP.length >= MIN_COLUMNS_BESIDE)
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  const below = helper.boxWrap(description, columns - INDENT_BELOW);
  return GAP + term + `\n${below}`.replaceAll('\n', `\n${' '.repeat(INDENT_BELOW)}`);
}

/** Breaks long lines between words; without a terminal, the text stays as it is. */
function fold(text: string, helper: Help, columns = Number.POSITIVE_INFINITY): string {
  const foldLine = (line: string): string =>
    line.length <= columns ? line : helper.boxWrap(line, columns - GAP.length).replaceAll('\n', `\n${GAP}`);
  return text.split('\n').map(foldLine).join('\n');
}

/** Adds a paragraph to the end of a command's help and, below it, a list. */
export function addToHelp(command: Program, text: string, items: readonly Item[] = []): Program {
  const termWidth = Math.max(0, ...items.map(([term]) => term.length));
  return command.addHelpText('after', ({ error }) => {
    const { getOutHelpWidth, getErrHelpWidth } = command.configureOutput();
    const helper = command.createHelp();
    helper.helpWidth = (error ? getErrHelpWidth : getOutHelpWidth)?.() ?? DEFAULT_COLUMNS;
    const list = items.map(([term, description]) => formatItem(term, termWidth, description, helper));
    return ['', helper.boxWrap(text, helper.helpWidth), ...list].join('\n');
  });
}

/** Adds the examples of a command and of its subcommands to their help. */
export function addExamples(command: Program): void {
  const examples = EXAMPLES[pathOf(command)];
  if (examples !== undefined) addToHelp(command, 'Examples:', examples);
  for (const subcommand of command.commands) addExamples(subcommand);
}

/** Such as `webhook test`. */
function pathOf(command: Program): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}
