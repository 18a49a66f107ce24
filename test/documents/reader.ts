import { fetchBy } from './clone.ts';
import { isFetching, isLasting, withoutComment } from './command.ts';
import type { Mark } from './mark.ts';
import type { Commands, Line, Output } from './markdown.ts';
import { differences, linesOf, missingFrom, tableDifferences } from './normalize.ts';
import type { Report } from './report.ts';
import type { Room } from './sandbox.ts';
import { fillSettings } from './settings.ts';
import { type Ended, lookUntil, openTerminal, type Terminal } from './terminal.ts';

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
/** When interrupted, npm and npx exit with 130 regardless of the program's own exit code. */
const WELL_STOPPED = [0, 130];
const LAST_WORD = /^(?:(?:[\d-]+ [\d:]+Z )?INFO {2})?stopped/m;
const LAST_WORD_WITHIN = 500;

/** A simulated reader, who follows one document, with as many terminals as it mentions. */
export function createReader({ clone, env, fetching, room, report }: ReaderOptions) {
  const terminals = new Map<string, Terminal>();
  /** The command that goes on in a terminal. */
  const begun = new Map<string, Line>();
  /** How much each terminal showed when the last block was begun. */
  const seen = new Map<string, number>();

  const terminal = (name: string): Terminal => {
    const known = terminals.get(name) ?? openTerminal({ enter: room.enter, folder: clone, env });
    terminals.set(name, known);
    return known;
  };
  /** Presses Ctrl-C if a command is running, which must then end successfully. */
  const stop = async (name: string): Promise<void> => {
    const command = begun.get(name);
    if (command === undefined) return;
    begun.delete(name);
    const { code, printed } = await terminal(name).interrupt();
    const what = `${withoutComment(command.text)}, ended by Ctrl-C`;
    const isWell = WELL_STOPPED.includes(code) && LAST_WORD.test(printed.slice(-LAST_WORD_WITHIN));
    if (isWell) report.pass(command.line, what);
    else report.fail(command.line, `${what} (exit code ${code})`, linesOf(printed));
  };
  /** Starts a command that keeps running, and stops the one before it in that terminal. */
  const start = async (name: string, command: Line): Promise<void> => {
    await stop(name);
    const text = withoutComment(command.text);
    const ended = await terminal(name).start(text);
    if (ended === undefined) begun.set(name, command);
    else report.fail(command.line, `${text} goes on (exit code ${ended.code})`, linesOf(ended.printed));
  };
  const carryOut = async (name: string, text: string, answers: readonly string[] = []): Promise<Ended> => {
    await stop(name);
    const ended = isFetching(text)
      ? await fetchBy(text, clone, fetching, FETCH_LIMIT_MS)
      : await terminal(name).run(text, COMMAND_LIMIT_MS, answers);
    if (/^cp (?:-n )?\.env\.example \.env\b/.test(text)) fillSettings(clone);
    return ended;
  };
  const runOne = async ({ line, text }: Line, { terminal: name, exits, answers }: Mark): Promise<string> => {
    const beganAt = performance.now();
    const { code, printed } = await carryOut(name, text, answers);
    const seconds = Math.round((performance.now() - beganAt) / 1_000);
    const what = `${withoutComment(text)} (${seconds} s)`;
    if (code === exits) report.pass(line, what);
    else report.fail(line, `${what}: exit code ${code}`, linesOf(printed));
    return printed;
  };
  /** Replaces the process id in the document by the actual one, which the worker logs. */
  const nameProcess = (text: string, { process }: Mark): string => {
    if (process === undefined) return text;
    const there = /worker started \(process (\d+)\)/.exec(terminal(process.terminal).text())?.[1];
    return text.replaceAll(process.number, there ?? process.number);
  };
  const compare = (output: Output, printed: string, asTable: boolean): void => {
    const [there, shown] = [linesOf(printed), output.lines];
    const why = asTable ? tableDifferences(there, shown) : differences(there, shown, clone);
    if (why.length === 0) report.pass(output.line, 'what is shown is what it prints');
    else report.fail(output.line, 'what is shown is what it prints', why);
  };
  return {
    /** Runs the commands of a block in its terminal, and reports each. */
    run: async ({ mark, line, commands, output }: Commands): Promise<void> => {
      for (const [name, one] of terminals) seen.set(name, one.text().length);
      if (mark.beside !== undefined) await start(BESIDE, { line, text: mark.beside });
      for (const text of mark.after) await carryOut(mark.terminal, text);
      let printed = '';
      for (const [index, command] of commands.entries()) {
        const named = { ...command, text: nameProcess(command.text, mark) };
        const isLast = index === commands.length - 1;
        if (isLasting(withoutComment(named.text))) await start(mark.terminal, named);
        else printed += await runOne(named, isLast ? mark : { ...mark, exits: 0, answers: [] });
      }
      if (output !== undefined) compare(output, printed, isQuery(commands));
      if (mark.beside !== undefined) await stop(BESIDE);
    },
    /** Waits until a terminal has shown the lines of an output since the last block was begun. */
    waitFor: async ({ line, lines }: Output, name: string): Promise<void> => {
      const shown = () =>
        linesOf(
          terminal(name)
            .text()
            .slice(seen.get(name) ?? 0),
        );
      const missing = () => missingFrom(shown(), lines, clone);
      await lookUntil(() => missing().length === 0 || undefined, LINES_LIMIT_MS);
      const what = `${lines.length} lines are among those of terminal ${name}`;
      const why = [...shown().map((one) => `printed: ${one}`), ...missing().map((one) => `not printed: ${one}`)];
      if (missing().length === 0) report.pass(line, what);
      else report.fail(line, what, why);
    },
    /** Presses Ctrl-C in every terminal with a running command. */
    end: async (): Promise<void> => {
      for (const name of terminals.keys()) await stop(name);
    },
  };
}

function isQuery(commands: readonly Line[]): boolean {
  return commands.length === 1 && /^(?:\w+=\S+ )?(?:npx |\.\/)league-sync query /.test(commands[0]?.text ?? '');
}
