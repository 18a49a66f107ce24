import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchBy } from './clone.ts';
import { isFetching, isLasting, withoutComment } from './command.ts';
import type { Mark } from './mark.ts';
import type { Commands, Line } from './markdown.ts';
import type { Report } from './report.ts';
import type { Room } from './room.ts';
import { differences, linesOf, tableDifferences } from './shape.ts';
import { type Ended, openTerminal, type Terminal } from './terminal.ts';

export type Session = {
  /** Runs the commands of a block in its terminal, and reports each. */
  readonly run: (block: Commands) => Promise<void>;
  readonly terminal: (name: string) => Terminal;
  /** Presses Ctrl-C wherever something goes on. */
  readonly end: () => Promise<void>;
};

export type SessionOptions = {
  readonly clone: string;
  readonly env: Readonly<Record<string, string>>;
  /** The same with the way to npm's registry. */
  readonly fetching: Readonly<Record<string, string>>;
  readonly room: Room;
  readonly report: Report;
};

const COMMAND_LIMIT_MS = 120_000;
const FETCH_LIMIT_MS = 300_000;
const BESIDE = 'beside';
/** npm and npx report 130 for themselves when they are interrupted, whatever the program's own code was. */
const WELL_STOPPED = [0, 130];

/** One reader of one document, with as many terminals as the document speaks of. */
export function openSession({ clone, env, fetching, room, report }: SessionOptions): Session {
  const terminals = new Map<string, Terminal>();
  const begun = new Map<Terminal, Line>();

  const terminal = (name: string): Terminal => {
    const known = terminals.get(name) ?? openTerminal({ enter: room.enter, folder: clone, env });
    terminals.set(name, known);
    return known;
  };

  const stop = async (one: Terminal) => {
    const command = begun.get(one);
    if (command === undefined) return;
    begun.delete(one);
    const { code, printed } = await one.interrupt();
    const what = `${withoutComment(command.text)}, ended by Ctrl-C`;
    const well = WELL_STOPPED.includes(code) && /^(?:\[[\d:]+\] )?INFO: stopped/m.test(printed.slice(-500));
    if (well) report.pass(command.line, what);
    else report.fail(command.line, `${what} (exit code ${code})`, linesOf(printed));
  };

  const start = async (one: Terminal, command: Line) => {
    await stop(one);
    const ended = await one.start(withoutComment(command.text));
    if (ended === undefined) begun.set(one, command);
    else
      report.fail(
        command.line,
        `${withoutComment(command.text)} goes on (exit code ${ended.code})`,
        linesOf(ended.printed),
      );
  };

  const carryOut = async (one: Terminal, text: string, answers: readonly string[]): Promise<Ended> => {
    await stop(one);
    const ended = isFetching(text)
      ? await fetchBy(text, clone, fetching, FETCH_LIMIT_MS)
      : await one.run(text, COMMAND_LIMIT_MS, answers);
    if (/^cp \.env\.example \.env\b/.test(text)) fillSettings(clone);
    return ended;
  };

  const runOne = async (one: Terminal, command: Line, exits: number, answers: readonly string[]): Promise<string> => {
    const beganAt = performance.now();
    const { code, printed } = await carryOut(one, command.text, answers);
    const seconds = Math.round((performance.now() - beganAt) / 1_000);
    const what = `${withoutComment(command.text)} (${seconds} s)`;
    if (code === exits) report.pass(command.line, what);
    else report.fail(command.line, `${what}: exit code ${code}`, linesOf(printed));
    return printed;
  };

  const run = async ({ line, commands, mark, output }: Commands) => {
    const one = terminal(mark.terminal);
    if (mark.beside !== undefined) await start(terminal(BESIDE), { line, text: mark.beside });
    for (const text of mark.after) await carryOut(one, text, []);
    let printed = '';
    for (const [index, command] of commands.entries()) {
      const last = index === commands.length - 1;
      const text = nameProcess(command.text, mark, terminal);
      if (isLasting(withoutComment(text))) await start(one, command);
      else printed += await runOne(one, { ...command, text }, last ? mark.exits : 0, last ? mark.answers : []);
    }
    if (output !== undefined) compare(output, printed, { asTable: isQuery(commands), clone, report });
    if (mark.beside !== undefined) await stop(terminal(BESIDE));
  };

  return {
    run,
    terminal,
    end: async () => {
      for (const one of terminals.values()) await stop(one);
    },
  };
}

type Comparison = { readonly asTable: boolean; readonly clone: string; readonly report: Report };

function compare(output: { line: number; lines: readonly string[] }, printed: string, options: Comparison): void {
  const { asTable, clone, report } = options;
  const [there, shown] = [linesOf(printed), output.lines];
  const why = asTable ? tableDifferences(there, shown) : differences(there, shown, clone);
  if (why.length === 0) report.pass(output.line, 'what is shown is what it prints');
  else report.fail(output.line, 'what is shown is what it prints', why);
}

function isQuery(commands: readonly Line[]): boolean {
  return commands.length === 1 && /^npx league-sync query /.test(commands[0]?.text ?? '');
}

/** The number of a process that a document shows is another one each time. */
function nameProcess(text: string, { process }: Mark, terminal: (name: string) => Terminal): string {
  if (process === undefined) return text;
  return text.replaceAll(process.number, processIn(terminal(process.terminal)) ?? process.number);
}

/** The number of the process that the worker in a terminal says. */
export function processIn(terminal: Terminal): string | undefined {
  return /worker started \(process (\d+)\)/.exec(terminal.screen())?.[1];
}

/** Does what the reader is told to do after copying the example: writes in what the README says of the simulator. */
function fillSettings(clone: string): void {
  const readme = readFileSync(join(clone, 'README.md'), 'utf8').replaceAll(/\s+/g, ' ');
  const { groups } =
    /its address is `(?<BASE_URL>[^`]+)`, the username `(?<USERNAME>[^`]+)`, the password `(?<PASSWORD>[^`]+)`/.exec(
      readme,
    ) ?? {};
  const path = join(clone, '.env');
  const filled = Object.entries(groups ?? {}).reduce(
    (text, [name, value]) => text.replace(`\nLEAGUE_SYNC_${name}=\n`, () => `\nLEAGUE_SYNC_${name}=${value}\n`),
    readFileSync(path, 'utf8'),
  );
  writeFileSync(path, filled);
}
