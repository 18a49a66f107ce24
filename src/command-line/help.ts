import type { Command as Program } from 'commander';
import type { ProcessIO } from '../commands/command.ts';
import { isPipe } from '../terminal/style.ts';
import { wrap } from '../terminal/text.ts';

const DEFAULT_COLUMNS = 80;
const INDENT = 2;

type Example = readonly [command: string, what: string];

/** What to try first, in the help of the program. */
const FIRST_STEPS: readonly Example[] = [
  ['league-sync demo', 'try it without settings'],
  ['league-sync check', 'see whether the settings work'],
  ['league-sync status', 'see whether the data is up to date'],
  ['league-sync changes --since 1d', 'see what changed in the last day'],
];

/** What the usage does not show; each is in the help of its command, and of the command above that. */
const EXAMPLES: readonly Example[] = [
  ["LEAGUE_SYNC_SCHEDULE='0 * * * *' league-sync run", 'poll every hour'],
  ['LEAGUE_SYNC_LOG_LEVEL=info league-sync sync', 'also log each step to stderr'],
  ['league-sync check --report report.json', 'for a bug report'],
  ['league-sync status --database demo-data/leagues.db', 'of the demo'],
  ['league-sync changes --since 2d', 'the last two days'],
  ['league-sync changes --league NFL --limit 5', 'the newest of one league'],
  ['league-sync changes --follow --json', 'new changes, for a program'],
  ['league-sync query "SELECT league_name, sport FROM active_leagues"', 'a table'],
  ['league-sync query --format csv "SELECT * FROM leagues"', 'for a spreadsheet'],
  ['league-sync query - <report.sql', 'a statement from a file'],
  ['league-sync verify backup.db --against data/leagues.db', 'a backup, and how far it is behind'],
  ['league-sync webhook replay --since 1d', 'send the last day again'],
  ['league-sync simulate --port 0 --churn 5s', 'any free port, leagues that change'],
  ['league-sync simulate --fault rate-limit --fault etag', 'with faults'],
];

export type Output = Pick<ProcessIO, 'print' | 'printError' | 'terminal' | 'errorTerminal'>;

/** Makes help and usage errors fit the terminal. Commands that are added later inherit this. */
export function fitTerminal(program: Program, { print, printError, terminal, errorTerminal }: Output): Program {
  return program.configureHelp({ minWidthToWrap: 1 }).configureOutput({
    // Commander's texts end with a line break, but `print` and `printError` add one themselves.
    writeOut: (text) => void print(terminal.asTyped(text.trimEnd())),
    writeErr: (text) => printError(fold(errorTerminal.asTyped(text.trimEnd()), errorTerminal.columns)),
    outputError: (text, write) => write(text.replace(/^error:/, 'league-sync:')),
    getOutHelpWidth: () => (isPipe(terminal) ? DEFAULT_COLUMNS : terminal.columns),
  });
}

function fold(text: string, columns: number): string {
  return text.replaceAll(/^.+$/gm, (line) => wrap(line, columns, INDENT).join('\n'));
}

/** Adds a paragraph to the end of a command's help and, below it, a list. */
export function addToHelp(
  command: Program,
  text: string,
  items: readonly (readonly [term: string, description: string])[] = [],
): Program {
  const termWidth = Math.max(0, ...items.map(([term]) => term.length));
  return command.addHelpText('after', () => {
    const helper = command.createHelp();
    helper.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? DEFAULT_COLUMNS });
    const list = items.map(([term, description]) => helper.formatItem(term, termWidth, description, helper));
    return ['', helper.boxWrap(text, helper.helpWidth ?? DEFAULT_COLUMNS), ...list].join('\n');
  });
}

/** Adds the examples of the program, of its commands and of their subcommands to their help. */
export function addExamples(program: Program): void {
  addExamplesTo(program, FIRST_STEPS);
  for (const command of program.commands) addOwnExamples(command, `league-sync ${command.name()}`);
}

function addOwnExamples(command: Program, path: string): void {
  addExamplesTo(
    command,
    EXAMPLES.filter(([line]) => line.includes(path)),
  );
  for (const subcommand of command.commands) addOwnExamples(subcommand, `${path} ${subcommand.name()}`);
}

/** Each command has a line of its own, to copy; it is not broken to fit the terminal. */
function addExamplesTo(command: Program, examples: readonly Example[]): void {
  if (examples.length === 0) return;
  const lines = examples.map(([line, what]) => `  # ${what}\n  ${line}`);
  command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
}
