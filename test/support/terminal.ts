import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, onTestFinished } from 'vitest';
import { watchProgram } from './leak.ts';
import { type Environment, eventually, PROGRAM } from './program.ts';

export const CONTROL_C = '\u0003';
export const CONTROL_D = '\u0004';

/** Part of every Debian; Node itself cannot make a terminal. */
const SCRIPT = 'script';

/** Leaves out the tests of this group, or of this file, if no pseudo-terminal can be made. */
export function needTerminal(): void {
  const { status } = spawnSync(SCRIPT, ['-qec', 'true', '/dev/null']);
  beforeEach(({ skip }) => {
    if (status !== 0) skip('script cannot make a pseudo-terminal here');
  });
}

type TerminalOptions = {
  readonly cwd: string;
  readonly env: Environment;
  /** The width of the terminal. */
  readonly columns?: number;
};

/** Starts a command of the program at a pseudo-terminal, whose user can type. */
export function startAtTerminal(args: string, { cwd, env, columns }: TerminalOptions) {
  const size = columns === undefined ? '' : `stty cols ${columns}; `;
  const child = spawn(SCRIPT, ['-qec', `${size}exec "$NODE" "$PROGRAM" ${args}`, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, NODE: process.execPath, PROGRAM, ...env },
  });
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
  });
  child.stdin.on('error', () => undefined);
  const closed = once(child, 'close');
  // Nothing awaits this after a test has failed.
  closed.catch(() => undefined);
  watchProgram({ args: args.split(' '), cwd, env }, () => ({ 'the screen': screen }), closed);
  onTestFinished(() => {
    // Remaining processes get SIGHUP.
    child.kill('SIGKILL');
  });
  return {
    /** Everything on the screen so far, with the echoed input, but for lines of progress. */
    screen: (): string => screen.replaceAll(/[^\r\n]*\r\n(?:\^C)?\r\p{Cc}\[A\p{Cc}\[J/gu, ''),
    raw: (): string => screen,
    /** Waits until the screen ends with this. */
    waitForPrompt: async (text: string): Promise<void> => {
      await eventually(`the screen ends with "${text}"; it shows\n${screen}`, () => screen.endsWith(text));
    },
    /** Presses these keys. */
    type: (keys: string): void => {
      child.stdin.write(keys);
    },
    /** Waits for the exit, and returns the exit code like a shell. */
    waitForExit: async (): Promise<number> => {
      await eventually('the program at the terminal ends', () => child.exitCode !== null || child.signalCode !== null);
      const [code] = await closed;
      return code ?? -1;
    },
  };
}

/** Runs a command to its end at a terminal. Returns the lines on its screen, without colours. */
export async function showAtTerminal(args: string, options: TerminalOptions) {
  const terminal = startAtTerminal(args, options);
  const code = await terminal.waitForExit();
  return { code, lines: stripVTControlCharacters(terminal.screen()).trimEnd().split('\r\n') };
}
