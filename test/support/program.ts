import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { tryOrUndefined } from '../../src/try-or-undefined.ts';
import { watchProgram } from './leak.ts';
import { requireLogNames } from './log-lines.ts';

/** The program as it ships. */
export const PROGRAM = resolve(import.meta.dirname, '../../dist/league-sync.cjs');

/** The compile cache of Node: there are hundreds of starts, each of which takes a third less time with it. */
export const COMPILED = join(tmpdir(), 'league-sync-e2e-compiled');

/** Longer than anything here takes, even on a busy machine: a test that waits this long fails. */
export const DEADLINE_MS = 40_000;

export type Environment = Readonly<Record<string, string>>;

export type ProgramOptions = {
  /** Variables besides PATH, HOME and the compile cache; the environment of the test is not passed on. */
  readonly env?: Environment;
  readonly cwd: string;
  readonly input?: string;
  /** Another Node binary than that of the tests. */
  readonly node?: string;
  /** A file descriptor for stdout, whose content is then unknown. */
  readonly stdout?: number;
  /** A shell command that reads stdout. `Exit` has its output, and the exit code of the program. */
  readonly into?: string;
  /** A command, with its arguments, that runs the program. */
  readonly through?: readonly string[];
};

export type Exit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** A log line as JSON; a line that is not JSON has its text as `msg`. */
export type LogLine = Readonly<Record<string, unknown>>;

export type RunningProgram = {
  readonly pid: number;
  /** Whether it still runs. */
  readonly alive: () => boolean;
  /** Everything it has logged on stdout so far. */
  readonly log: () => readonly LogLine[];
  /** The first matching line after the last one that was waited for. Rejects if the program ends without it. */
  readonly waitForLog: (fits: (line: LogLine) => boolean) => Promise<LogLine>;
  /** Waits for a run of leagues to end, and returns its line. */
  readonly waitForPoll: (outcome?: string) => Promise<LogLine>;
  /** Has a worker poll at once, by SIGHUP, and waits for the end of a poll, with that outcome if one is given. */
  readonly pollNow: (outcome?: string) => Promise<LogLine>;
  readonly send: (signal: NodeJS.Signals) => void;
  /** Sends the signal and waits for the end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Exit>;
  /** Waits for the program to end by itself; kills it on timeout, so that its exit code is null. */
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
  const { add, end, reader } = createProgramLog(
    () => output,
    () => child.kill('SIGHUP'),
  );
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      if (name === 'stdout') add(text);
    });
  }
  const exited = new Promise<Exit>((resolveExit, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      children.delete(child);
      resolveExit(options.into === undefined ? { code, signal, ...output } : readPipeline({ signal, ...output }));
      end();
    });
  });
  // Nothing awaits this after a test has failed.
  exited.catch(() => undefined);
  watchProgram({ args, cwd: options.cwd, env: options.env ?? {} }, () => output, exited);
  onTestFinished(() => {
    child.kill('SIGKILL');
    requireLogNames([...reader.log(), ...readLines(output.stderr)]);
  });
  const waitForExit = (): Promise<Exit> => {
    const overtime = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
    return exited.finally(() => clearTimeout(overtime));
  };
  const send = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  return {
    ...reader,
    pid: child.pid ?? 0,
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
  // A program may end without reading its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input ?? '');
  return child;
}

/** A shell reports only the exit code of the last program of a pipe, so that of the first one is written to stderr. */
const CODE_MARK = 'exit code of the program: ';

function pipeline(reader: string): string {
  return `{ "$@"; echo "${CODE_MARK}$?" >&2; } | (${reader})`;
}

function readPipeline({ signal, stdout, stderr }: Omit<Exit, 'code'>): Exit {
  const [said = '', code] = stderr.split(CODE_MARK);
  return { code: code === undefined ? null : Number(code), signal, stdout, stderr: said };
}

/** The log of a program as it arrives. `output` is shown if a line that is waited for does not come. */
export function createProgramLog(output: () => Pick<Exit, 'stdout' | 'stderr'>, hangUp: () => unknown) {
  const lines: LogLine[] = [];
  const watchers = new Set<() => void>();
  let [rest, next, ended] = ['', 0, false];
  const wake = (): void => {
    for (const watcher of watchers) watcher();
  };
  const waitForLog: RunningProgram['waitForLog'] = (fits) =>
    new Promise((resolveLine, reject) => {
      const settle = (): void => {
        clearTimeout(overtime);
        watchers.delete(look);
      };
      const fail = (why: string): void => {
        settle();
        reject(new Error(`${why}\n${describe(output())}`));
      };
      const look = (): void => {
        const found = lines.findIndex((line, index) => index >= next && fits(line));
        const line = lines[found];
        if (line !== undefined) {
          next = found + 1;
          settle();
          resolveLine(line);
        } else if (ended) {
          fail('The program ended without the log line that was waited for.');
        }
      };
      const overtime = setTimeout(() => fail('The log line that was waited for did not come.'), DEADLINE_MS);
      watchers.add(look);
      look();
    });
  const waitForPoll: RunningProgram['waitForPoll'] = (outcome) =>
    waitForLog(
      (line) =>
        line.kind === 'leagues' &&
        typeof line.outcome === 'string' &&
        (outcome === undefined || line.outcome === outcome),
    );
  const pollNow: RunningProgram['pollNow'] = (outcome) => {
    hangUp();
    return waitForPoll(outcome);
  };
  return {
    /** Parses lines as they arrive: waiting for each of thousands must not parse all of them again. */
    add: (text: string): void => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) lines.push(readLine(part));
      wake();
    },
    end: (): void => {
      ended = true;
      wake();
    },
    reader: { alive: () => !ended, log: () => lines, waitForLog, waitForPoll, pollNow },
  };
}

/** The lines of a log that has ended. */
export function readLines(text: string): readonly LogLine[] {
  return text.split('\n').slice(0, -1).map(readLine);
}

function readLine(text: string): LogLine {
  const value: unknown = tryOrUndefined(() => JSON.parse(text));
  return typeof value === 'object' && value !== null ? { ...value } : { msg: text };
}

function describe({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  return `--- stdout\n${stdout.slice(-4_000)}\n--- stderr\n${stderr.slice(-4_000)}`;
}

/** Calls `probe` until it returns a value; fails with `what` on timeout. */
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
