import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createScreen, type Ended, eventually, type Screen } from './screen.ts';

/** A terminal with a shell, which keeps variables and folder between commands. */
export type Terminal = {
  /** Runs a command to its end; types the answers when it prompts. */
  readonly run: (command: string, limitMs: number, answers?: readonly string[]) => Promise<Ended>;
  /**
   * Starts a command that keeps running, and waits until it has printed something and is quiet. Undefined if it keeps
   * running, else its end.
   */
  readonly start: (command: string) => Promise<Ended | undefined>;
  /** Presses Ctrl-C. */
  readonly interrupt: () => Promise<Ended>;
  /** Everything on the screen so far. */
  readonly text: () => string;
};

export type TerminalOptions = {
  readonly enter: readonly [string, ...string[]];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
};

const SHELL = join(import.meta.dirname, 'terminal.sh');
const CONTROL_C = '\x03';
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 15_000;

/** Opens a terminal, 120 characters wide. It ends with the sandbox. Commands run one after the other. */
export function openTerminal(options: TerminalOptions): Terminal {
  const { keys, commands, screen } = openShell(options);
  const begin = (command: string) => {
    screen.begin();
    commands.write(`${command}\0`);
  };
  const interrupt = async () => {
    keys.write(CONTROL_C);
    const ended = await eventually(screen.takeEnd, STOP_LIMIT_MS);
    return ended ?? { code: -1, printed: `${screen.news()}\nnot ended by Ctrl-C` };
  };

  return {
    run: async (command, limitMs, answers = []) => {
      begin(command);
      for (const answer of answers) {
        const seen = await eventually(screen.settled, START_LIMIT_MS);
        if (typeof seen === 'object') return { code: -1, printed: `${seen.printed}it did not wait for "${answer}"` };
        keys.write(`${answer}\n`);
        screen.begin();
      }
      const ended = await eventually(screen.takeEnd, limitMs);
      if (ended !== undefined) return ended;
      const { printed } = await interrupt();
      return { code: -1, printed: `${printed}\nnot done after ${limitMs / 1_000} s` };
    },
    start: async (command) => {
      begin(command);
      const seen = await eventually(screen.settled, START_LIMIT_MS);
      if (seen === 'quiet') return undefined;
      return seen ?? { code: -1, printed: 'it did not say anything' };
    },
    interrupt,
    text: screen.text,
  };
}

type Shell = { readonly keys: Writable; readonly commands: Writable; readonly screen: Screen };

function openShell({ enter: [first, ...rest], folder, env }: TerminalOptions): Shell {
  const child = spawn(first, [...rest, 'script', '-qec', `exec bash ${SHELL} ${folder}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  });
  const [keys, screen, , commands] = child.stdio as unknown as [Writable, Readable, null, Writable];
  // A process that vanishes is detected by its missing output.
  for (const stream of [keys, commands, child]) stream.on('error', () => undefined);
  return { keys, commands, screen: createScreen(screen) };
}
