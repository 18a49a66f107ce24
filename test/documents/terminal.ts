import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

/** The end of a command, and what it printed. */
export type Ended = { readonly code: number; readonly printed: string };

/** A terminal with a shell, which keeps variables and folder between commands. Commands run one after the other. */
export type Terminal = ReturnType<typeof openTerminal>;

export type TerminalOptions = {
  readonly enter: readonly [string, ...string[]];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
};

const SHELL = join(import.meta.dirname, 'terminal.sh');
const CONTROL_C = '\x03';
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 15_000;
/** The marker with the exit code that the shell prints after each command. */
const END = /⟦(?<code>\d+)⟧/;
/** The characters of the spinner of npm. */
const WHEEL = /[\u2801-\u28ff]/g;
/** Removes the line above: that of the progress of a command. */
const REMOVAL = '\r\x1B[A\x1B[J';
const QUIET_MS = 1_500;
const LOOK_EVERY_MS = 50;

/** Opens a terminal, 120 characters wide. It ends with the sandbox. */
export function openTerminal({ enter: [first, ...rest], folder, env }: TerminalOptions) {
  const child = spawn(first, [...rest, 'script', '-qec', `exec bash ${SHELL} ${folder}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  });
  const [keys, screen, , commands] = child.stdio as unknown as [Writable, Readable, null, Writable];
  // A process that vanishes is detected by its missing output.
  for (const stream of [keys, commands, child]) stream.on('error', () => undefined);
  let raw = '';
  let lastAt = 0;
  /** How much of it belongs to commands that have ended. */
  let done = 0;
  screen.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
    lastAt = performance.now();
  });
  const news = () => clean(raw.slice(done));
  /** The end of the command, if it has ended; returned once. */
  const takeEnd = (): Ended | undefined => {
    const end = END.exec(raw.slice(done));
    if (end === null) return undefined;
    const printed = clean(raw.slice(done, done + end.index));
    done += end.index + end[0].length;
    return { code: Number(end.groups?.code), printed };
  };
  /** The end, or `quiet` if the command has printed something and pauses. */
  const settled = (): Ended | 'quiet' | undefined => {
    const isQuiet = () => news().trim() !== '' && performance.now() - lastAt > QUIET_MS;
    return takeEnd() ?? (isQuiet() ? 'quiet' : undefined);
  };
  const write = (to: Writable, text: string) => {
    lastAt = performance.now();
    to.write(text);
  };
  /** Presses Ctrl-C. */
  const interrupt = async (): Promise<Ended> => {
    keys.write(CONTROL_C);
    const ended = await lookUntil(takeEnd, STOP_LIMIT_MS);
    return ended ?? { code: -1, printed: `${news()}\nnot ended by Ctrl-C` };
  };
  return {
    /** Runs a command to its end; types the answers when it prompts. */
    run: async (command: string, limitMs: number, answers: readonly string[] = []): Promise<Ended> => {
      write(commands, `${command}\0`);
      for (const answer of answers) {
        const seen = await lookUntil(settled, START_LIMIT_MS);
        if (typeof seen === 'object') return { code: -1, printed: `${seen.printed}it did not wait for "${answer}"` };
        write(keys, `${answer}\n`);
      }
      const ended = await lookUntil(takeEnd, limitMs);
      if (ended !== undefined) return ended;
      const { printed } = await interrupt();
      return { code: -1, printed: `${printed}\nnot done after ${limitMs / 1_000} s` };
    },
    /** Starts a command that keeps running, and waits until it has printed something and is quiet; or until its end. */
    start: async (command: string): Promise<Ended | undefined> => {
      write(commands, `${command}\0`);
      const seen = await lookUntil(settled, START_LIMIT_MS);
      if (seen === 'quiet') return undefined;
      return seen ?? { code: -1, printed: 'it did not say anything' };
    },
    interrupt,
    /** Everything on the screen so far. */
    text: () => clean(raw).replaceAll(RegExp(END, 'g'), '\n'),
  };
}

/** Polls until `look` returns a value; undefined on timeout. */
export async function lookUntil<T>(look: () => T | undefined, limitMs: number): Promise<T | undefined> {
  const until = performance.now() + limitMs;
  for (;;) {
    const seen = look();
    if (seen !== undefined || performance.now() > until) return seen;
    await sleep(LOOK_EVERY_MS);
  }
}

function clean(text: string): string {
  const shown = text.split(REMOVAL).reduce((before, after) => before.replace(/[^\n]*\n$/, '') + after);
  const plain = stripVTControlCharacters(shown).replaceAll(WHEEL, '').replaceAll('^C', '');
  return plain.replaceAll(/\r+\n/g, '\n').replaceAll('\r', '');
}
