import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { watchProgram } from './leak.ts';
import { requireLogNames } from './log-names.ts';

/** The program as it ships. */
export const PROGRAM = resolve(import.meta.dirname, '../../dist/league-sync.cjs');

/** Hundreds of starts of the same file: Node keeps what it compiled, which takes a third off each of them. */
const COMPILED = join(tmpdir(), 'league-sync-e2e-compiled');

/** Longer than anything here takes, even on a busy machine; a test that reaches it has failed. */
const DEADLINE_MS = 25_000;

export type Environment = Readonly<Record<string, string>>;

export type ProgramOptions = {
  /** Names beside PATH, HOME and Node's own cache; nothing else of the test's own environment is handed on. */
  readonly env?: Environment;
  readonly cwd: string;
  readonly input?: string;
  /** Another Node than the one that runs the tests. */
  readonly node?: string;
  /** A file descriptor in the place of stdout; nothing is then known of what is written there. */
  readonly stdout?: number;
  /** A shell command that reads stdout in place of the test. `Exit` tells its output, and the program's own code. */
  readonly into?: string;
  /** A command, with its arguments, that runs the program in place of the test. */
  readonly through?: readonly string[];
};

export type Exit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** A line of the log, read as JSON; a line that is none has itself as `msg`. */
export type LogLine = Readonly<Record<string, unknown>>;

export type RunningProgram = {
  readonly pid: number;
  /** Whether it still runs. */
  readonly alive: () => boolean;
  /** Everything it has logged on stdout so far. */
  readonly log: () => readonly LogLine[];
  /** The first line that fits among those after the line that was waited for last. Rejects once it cannot come. */
  readonly waitForLog: (fits: (line: LogLine) => boolean) => Promise<LogLine>;
  /** Waits for a run of leagues to end and gives its line. */
  readonly waitForPoll: (outcome?: string) => Promise<LogLine>;
  readonly send: (signal: NodeJS.Signals) => void;
  /** Sends the signal and waits for the end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Exit>;
  /** Waits for it to end by itself; what takes too long is killed, so that its exit code is null. */
  readonly waitForExit: () => Promise<Exit>;
};

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Runs the program to its end. */
export function runProgram(args: readonly string[], options: ProgramOptions): Promise<Exit> {
  return startProgram(args, options).waitForExit();
}

/**
 * Starts the program. A process still running at the end of the test is killed; a secret that it has said, or a field of its log that is not
 * snake_case, fails the test.
 */
export function startProgram(args: readonly string[], options: ProgramOptions): RunningProgram {
  const child = spawnProgram(args, options);
  const output = { stdout: '', stderr: '' };
  const lines = createLines();
  const watchers = new Set<() => void>();
  const wake = () => {
    for (const watcher of watchers) watcher();
  };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      if (name === 'stdout') lines.add(text);
      wake();
    });
  }
  let ended = false;
  const exited = new Promise<Exit>((resolveExit, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      ended = true;
      children.delete(child);
      resolveExit(options.into === undefined ? { code, signal, ...output } : readPipeline({ signal, ...output }));
      wake();
    });
  });
  // A test that has failed already is not interested any more.
  exited.catch(() => undefined);
  watchProgram({ args, cwd: options.cwd, env: options.env ?? {} }, () => output, exited);
  onTestFinished(() => {
    child.kill('SIGKILL');
    requireLogNames([...lines.all, ...readLines(output.stderr)]);
  });
  const waitForExit = (): Promise<Exit> => {
    const overtime = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
    return exited.finally(() => clearTimeout(overtime));
  };
  const send = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  const log = () => lines.all;
  const waitForLog = createLogWait({ log, output, watchers, ended: () => ended });
  return {
    pid: child.pid ?? 0,
    alive: () => !ended,
    log,
    waitForLog,
    waitForPoll: (outcome) =>
      waitForLog(
        (line) =>
          line.kind === 'leagues' &&
          typeof line.outcome === 'string' &&
          (outcome === undefined || line.outcome === outcome),
      ),
    send,
    stop: (signal = 'SIGTERM') => {
      send(signal);
      return waitForExit();
    },
    waitForExit,
  };
}

function spawnProgram(
  args: readonly string[],
  { env = {}, cwd, input, node, stdout, into, through = [] }: ProgramOptions,
) {
  const program = [...through, node ?? process.execPath, PROGRAM, ...args];
  const [command = '', ...rest] = into === undefined ? program : ['sh', '-c', pipeline(into), 'sh', ...program];
  const child: ChildProcess = spawn(command, rest, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, NODE_COMPILE_CACHE: COMPILED, ...env },
    stdio: ['pipe', stdout ?? 'pipe', 'pipe'],
  });
  children.add(child);
  // A program that ends without reading its input is no fault of the test.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input ?? '');
  return child;
}

/** A shell tells the exit code of the last program only, so the first one's is left on stderr. */
const CODE_MARK = 'exit code of the program: ';

function pipeline(reader: string): string {
  return `{ "$@"; echo "${CODE_MARK}$?" >&2; } | (${reader})`;
}

function readPipeline({ signal, stdout, stderr }: Omit<Exit, 'code'>): Exit {
  const [said = '', code] = stderr.split(CODE_MARK);
  return { code: code === undefined ? null : Number(code), signal, stdout, stderr: said };
}

type Watched = {
  readonly log: () => readonly LogLine[];
  readonly output: { readonly stdout: string; readonly stderr: string };
  readonly watchers: Set<() => void>;
  readonly ended: () => boolean;
};

function createLogWait({ log, output, watchers, ended }: Watched): RunningProgram['waitForLog'] {
  let next = 0;
  return (fits) =>
    new Promise((resolveLine, reject) => {
      const settle = (): void => {
        clearTimeout(overtime);
        watchers.delete(look);
      };
      const fail = (why: string): void => {
        settle();
        reject(new Error(`${why}\n${describe(output)}`));
      };
      const look = (): void => {
        const lines = log();
        const found = lines.findIndex((line, index) => index >= next && fits(line));
        const line = lines[found];
        if (line !== undefined) {
          next = found + 1;
          settle();
          resolveLine(line);
        } else if (ended()) {
          fail('The program ended without the log line that was waited for.');
        }
      };
      const overtime = setTimeout(() => fail('The log line that was waited for did not come.'), DEADLINE_MS);
      watchers.add(look);
      look();
    });
}

/** Lines are read as they come: waiting for each of thousands must not re-read all of them each time. */
function createLines() {
  const all: LogLine[] = [];
  let rest = '';
  return {
    all: all as readonly LogLine[],
    add: (text: string): void => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) all.push(readLine(part));
    },
  };
}

/** The lines of a log that has ended. */
export function readLines(text: string): readonly LogLine[] {
  const lines = createLines();
  lines.add(text);
  return lines.all;
}

function readLine(text: string): LogLine {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : { msg: text };
  } catch {
    return { msg: text };
  }
}

function describe({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  return `--- stdout\n${stdout.slice(-4_000)}\n--- stderr\n${stderr.slice(-4_000)}`;
}

/** Calls `probe` until it says something, and fails with `what` when that takes too long. */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | false,
  withinMs = DEADLINE_MS,
): Promise<T> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const found = probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() >= giveUpAt) throw new Error(`It did not happen in time that ${what}.`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}
