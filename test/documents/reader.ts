import { fetchBy } from './clone.ts';
import { isFetching, isLasting, withoutComment } from './command.ts';
import type { Mark } from './mark.ts';
import type { Commands, Line, Output } from './markdown.ts';
import { differences, linesOf, missingFrom, tableDifferences } from './normalize.ts';
import type { Report } from './report.ts';
import type { Room } from './sandbox.ts';
import { type Ended, eventually } from './screen.ts';
import { fillSettings } from './settings.ts';
import { createDesk, type Desk } from './terminals.ts';

/** A simulated reader, who follows one document. */
export type Reader = {
  /** Runs the commands of a block in its terminal, and reports each. */
  readonly run: (block: Commands) => Promise<void>;
  /** Waits until a terminal has shown the lines of an output since the last block was begun. */
  readonly waitFor: (output: Output, terminal: string) => Promise<void>;
  /** Presses Ctrl-C in every terminal with a running command. */
  readonly end: () => Promise<void>;
};

export type ReaderOptions = {
  readonly clone: string;
  readonly env: Readonly<Record<string, string>>;
  /** The same environment with access to the npm registry. */
  readonly fetching: Readonly<Record<string, string>>;
  readonly room: Room;
  readonly report: Report;
};

const COMMAND_LIMIT_MS = 120_000;
const FETCH_LIMIT_MS = 300_000;
/** A worker may take two polls to report a fault, each of them as long as a run. */
const LINES_LIMIT_MS = 20_000;
const BESIDE = 'beside';

/** A reader of one document, with as many terminals as the document mentions. */
export function createReader(options: ReaderOptions): Reader {
  const { clone, env, room, report } = options;
  const desk = createDesk({ enter: room.enter, folder: clone, env }, report);
  return {
    run: async (block) => {
      desk.look();
      const { mark, line, commands, output } = block;
      if (mark.beside !== undefined) await desk.start(BESIDE, { line, text: mark.beside });
      for (const text of mark.after) await carryOut(mark, text, [], desk, options);
      const printed = await runAll(block, desk, options);
      if (output !== undefined) compare(output, printed, isQuery(commands), options);
      if (mark.beside !== undefined) await desk.stop(BESIDE);
    },
    waitFor: async ({ line, lines }, name) => {
      const shown = () => linesOf(desk.shownSince(name));
      const missing = () => missingFrom(shown(), lines, clone);
      await eventually(() => missing().length === 0 || undefined, LINES_LIMIT_MS);
      const what = `${lines.length} lines are among those of terminal ${name}`;
      const why = [...shown().map((one) => `printed: ${one}`), ...missing().map((one) => `not printed: ${one}`)];
      if (missing().length === 0) report.pass(line, what);
      else report.fail(line, what, why);
    },
    end: desk.stopAll,
  };
}

/** The output of the commands of a block that end by themselves. */
async function runAll({ commands, mark }: Commands, desk: Desk, options: ReaderOptions): Promise<string> {
  let printed = '';
  for (const [index, command] of commands.entries()) {
    const isLast = index === commands.length - 1;
    const named = { ...command, text: nameProcess(command.text, mark, desk) };
    if (isLasting(withoutComment(named.text))) await desk.start(mark.terminal, named);
    else printed += await runOne(named, isLast ? mark : { ...mark, exits: 0, answers: [] }, desk, options);
  }
  return printed;
}

async function runOne({ line, text }: Line, mark: Mark, desk: Desk, options: ReaderOptions): Promise<string> {
  const { report } = options;
  const beganAt = performance.now();
  const { code, printed } = await carryOut(mark, text, mark.answers, desk, options);
  const seconds = Math.round((performance.now() - beganAt) / 1_000);
  const what = `${withoutComment(text)} (${seconds} s)`;
  if (code === mark.exits) report.pass(line, what);
  else report.fail(line, `${what}: exit code ${code}`, linesOf(printed));
  return printed;
}

async function carryOut(
  { terminal }: Mark,
  text: string,
  answers: readonly string[],
  desk: Desk,
  { clone, fetching }: ReaderOptions,
): Promise<Ended> {
  await desk.stop(terminal);
  const ended = isFetching(text)
    ? await fetchBy(text, clone, fetching, FETCH_LIMIT_MS)
    : await desk.terminal(terminal).run(text, COMMAND_LIMIT_MS, answers);
  if (/^cp \.env\.example \.env\b/.test(text)) fillSettings(clone);
  return ended;
}

function compare(output: Output, printed: string, asTable: boolean, { clone, report }: ReaderOptions): void {
  const [there, shown] = [linesOf(printed), output.lines];
  const why = asTable ? tableDifferences(there, shown) : differences(there, shown, clone);
  if (why.length === 0) report.pass(output.line, 'what is shown is what it prints');
  else report.fail(output.line, 'what is shown is what it prints', why);
}

function isQuery(commands: readonly Line[]): boolean {
  return commands.length === 1 && /^(?:\w+=\S+ )?npx league-sync query /.test(commands[0]?.text ?? '');
}

/** Replaces the process id in the document by the actual one, which the worker logs. */
function nameProcess(text: string, { process }: Mark, desk: Desk): string {
  if (process === undefined) return text;
  const there = /worker started \(process (\d+)\)/.exec(desk.terminal(process.terminal).text())?.[1];
  return text.replaceAll(process.number, there ?? process.number);
}
