import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

/** The end of a command, and what it printed. */
export type Ended = { readonly code: number; readonly printed: string };

/** A terminal with a shell in it, whose variables and folder stay from one command to the next. */
export type Terminal = {
  /** Runs a command to its end; types the answers when it waits for them. */
  readonly run: (command: string, limitMs: number, answers?: readonly string[]) => Promise<Ended>;
  /** Starts a command that goes on, and waits until it has said something and is quiet; undefined if it does go on. */
  readonly start: (command: string) => Promise<Ended | undefined>;
  /** The command that goes on. */
  readonly going: () => string | undefined;
  /** Presses Ctrl-C. */
  readonly interrupt: () => Promise<Ended>;
  /** Everything on the screen so far. */
  readonly screen: () => string;
};

export type TerminalOptions = {
  readonly enter: readonly [string, ...string[]];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
};

const SHELL = join(import.meta.dirname, 'terminal.sh');
/** What the shell prints behind each command: its exit code. */
const END = /⟦(?<code>\d+)⟧/;
const CONTROL_C = '\x03';
/** npm draws a wheel with these while it waits. */
const WHEEL = /[\u2801-\u28ff]/g;
const LOOK_EVERY_MS = 50;
const QUIET_MS = 1_500;
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 15_000;

/** Opens a terminal, 120 characters wide. It ends with the room. */
export function openTerminal({ enter: [first, ...rest], folder, env }: TerminalOptions): Terminal {
  const child = spawn(first, [...rest, 'script', '-qec', `exec bash ${SHELL} ${folder}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  });
  const [keys, screen, , commands] = child.stdio as unknown as [Writable, Readable, null, Writable];
  let raw = '';
  let lastAt = performance.now();
  let done = 0;
  let current: string | undefined;
  screen.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
    lastAt = performance.now();
  });
  // Who vanishes is found out by what does not come.
  for (const stream of [keys, commands]) stream.on('error', () => undefined);
  child.on('error', () => undefined);

  const issue = (command: string) => {
    if (current !== undefined) throw new Error(`"${current}" still goes on in this terminal`);
    current = command;
    lastAt = performance.now();
    commands.write(`${command}\0`);
  };
  const seeEnd = (): Ended | undefined => {
    const news = raw.slice(done);
    const end = END.exec(news);
    if (end === null) return undefined;
    done += end.index + end[0].length;
    current = undefined;
    return { code: Number(end.groups?.code), printed: clean(news.slice(0, end.index)) };
  };
  const isQuiet = () => clean(raw.slice(done)).trim() !== '' && performance.now() - lastAt > QUIET_MS;

  return {
    run: async (command, limitMs, answers = []) => {
      issue(command);
      for (const answer of answers) {
        await eventually(() => isQuiet() || END.test(raw.slice(done)), START_LIMIT_MS);
        const early = seeEnd();
        if (early !== undefined) return { code: -1, printed: `${early.printed}it did not wait for "${answer}"` };
        keys.write(`${answer}\n`);
        lastAt = performance.now();
      }
      const ended = await eventually(seeEnd, limitMs);
      if (ended !== undefined) return ended;
      const printed = clean(raw.slice(done));
      keys.write(CONTROL_C);
      await eventually(seeEnd, STOP_LIMIT_MS);
      return { code: -1, printed: `${printed}\nnot done after ${limitMs / 1_000} s` };
    },
    start: async (command) => {
      issue(command);
      let ended: Ended | undefined;
      const settled = await eventually(() => {
        ended = seeEnd();
        return ended !== undefined || isQuiet();
      }, START_LIMIT_MS);
      return ended ?? (settled ? undefined : { code: -1, printed: 'it did not say anything' });
    },
    going: () => current,
    interrupt: async () => {
      keys.write(CONTROL_C);
      const ended = await eventually(seeEnd, STOP_LIMIT_MS);
      return ended ?? { code: -1, printed: `${clean(raw.slice(done))}\nnot ended by Ctrl-C` };
    },
    screen: () => clean(raw),
  };
}

/** Looks again and again; undefined when the time is over. */
export async function eventually<T>(look: () => T, limitMs: number): Promise<T | undefined> {
  const until = performance.now() + limitMs;
  for (;;) {
    const seen = look();
    if (seen) return seen;
    if (performance.now() > until) return undefined;
    await sleep(LOOK_EVERY_MS);
  }
}

function clean(text: string): string {
  const plain = stripVTControlCharacters(text).replaceAll(WHEEL, '').replaceAll('^C', '');
  return plain.replaceAll(/\r+\n/g, '\n').replaceAll('\r', '');
}
