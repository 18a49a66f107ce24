import { withoutComment } from './command.ts';
import type { Line } from './markdown.ts';
import { linesOf } from './normalize.ts';
import type { Report } from './report.ts';
import type { Ended } from './screen.ts';
import { openTerminal, type Terminal, type TerminalOptions } from './terminal.ts';

/** The terminals of one reader, and the commands running in them. */
export type Desk = {
  readonly terminal: (name: string) => Terminal;
  /** Starts a command that keeps running, and stops the one before it in that terminal. */
  readonly start: (name: string, command: Line) => Promise<void>;
  /** Presses Ctrl-C if a command is running, which must then end successfully. */
  readonly stop: (name: string) => Promise<void>;
  /** Stops the commands in all terminals. */
  readonly stopAll: () => Promise<void>;
  /** Remembers the output of all terminals so far. */
  readonly look: () => void;
  /** The output of a terminal since `look`. */
  readonly shownSince: (name: string) => string;
};

/** When interrupted, npm and npx exit with 130 regardless of the program's own exit code. */
const WELL_STOPPED = [0, 130];
const LAST_WORD = /^(?:(?:[\d-]+ [\d:]+Z )?INFO {2})?stopped/m;
const LAST_WORD_WITHIN = 500;

/** Creates an empty set; each terminal is opened at its first use. */
export function createDesk(options: TerminalOptions, report: Report): Desk {
  const terminals = new Map<string, Terminal>();
  const begun = new Map<string, Line>();
  const seen = new Map<string, number>();

  const terminal = (name: string): Terminal => {
    const known = terminals.get(name) ?? openTerminal(options);
    terminals.set(name, known);
    return known;
  };
  const stop = async (name: string) => {
    const command = begun.get(name);
    if (command === undefined) return;
    begun.delete(name);
    reportEnd(command, await terminal(name).interrupt(), report);
  };
  const start = async (name: string, command: Line) => {
    await stop(name);
    const text = withoutComment(command.text);
    const ended = await terminal(name).start(text);
    if (ended === undefined) begun.set(name, command);
    else report.fail(command.line, `${text} goes on (exit code ${ended.code})`, linesOf(ended.printed));
  };
  return {
    terminal,
    start,
    stop,
    stopAll: async () => {
      for (const name of terminals.keys()) await stop(name);
    },
    look: () => {
      for (const [name, one] of terminals) seen.set(name, one.text().length);
    },
    shownSince: (name) =>
      terminal(name)
        .text()
        .slice(seen.get(name) ?? 0),
  };
}

function reportEnd({ line, text }: Line, { code, printed }: Ended, report: Report): void {
  const what = `${withoutComment(text)}, ended by Ctrl-C`;
  const isWell = WELL_STOPPED.includes(code) && LAST_WORD.test(printed.slice(-LAST_WORD_WITHIN));
  if (isWell) report.pass(line, what);
  else report.fail(line, `${what} (exit code ${code})`, linesOf(printed));
}
