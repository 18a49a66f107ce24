import { existsSync, readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { CommanderError } from 'commander';
import type { Host } from './commands/host.ts';
import { readSettings } from './config/environment.ts';
import { codeOf, EXIT, exitCodeOf, type Notice, RunError, SettingsError, StoppedError } from './errors.ts';
import { createProgram, type Execute } from './program.ts';
import { createPaint, type Terminal } from './terminal/style.ts';
import { layOutNotice, layOutSettingsError } from './terminal/text.ts';

/** The program's one door to the process: arguments, environment, signals, exit code. */
const stopping = new AbortController();
const hangups: (() => void)[] = [];
const logs: (() => Promise<void>)[] = [];
let stoppedBy: 'SIGTERM' | 'SIGINT' | undefined;
let stoppedAt = 0;
let exitCode: number = EXIT.done;
let onlyReads = false;
/** What somebody was to read could not be written: the command has not done all that it was asked for. */
let outputFailed = false;

const STOPPING = ['SIGTERM', 'SIGINT'] as const;
/** npm hands on the Ctrl-C that a terminal has sent to its child as well: for so long that is no second signal. */
const HANDED_ON_MS = process.env.npm_lifecycle_event === undefined ? 0 : 1_000;
/** What still hangs about when everything has been closed must not keep the process from ending. */
const LINGER_MS = 500;
/** Of a terminal that does not say how wide it is. */
const USUAL_COLUMNS = 80;
/** Of what is said on stderr. */
const LEAD = 'league-sync: ';

const host: Host = {
  pid: process.pid,
  parent: () => process.ppid,
  program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
  environment: process.env,
  settings: () => readSettings(process.env, readDotenv()),
  print,
  warn,
  terminal: terminalOf(process.stdout),
  readInput: async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  },
  isAlive,
  ask: process.stdin.isTTY && process.stdout.isTTY ? ask : undefined,
  openLog: async (config, fd) => {
    const { openLog } = await import('./log.ts');
    const stream = fd === 1 ? process.stdout : process.stderr;
    const { log, close } = openLog(config, fd, stream.isTTY, wantsColor(stream));
    logs.push(close);
    return log;
  },
  stop: stopping.signal,
  onHangup: (callback) => hangups.push(callback),
};

/** The text of the file; undefined if there is none. */
function readDotenv(): string | undefined {
  if (!existsSync('.env')) return undefined;
  try {
    if (!statSync('.env').isFile())
      throw new SettingsError([{ message: '.env: is no ordinary file', fix: 'remove it' }]);
    return readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    const message = `.env: cannot be read (${codeOf(error) || 'unknown error'})`;
    throw new SettingsError([{ message, fix: 'correct its permissions, or remove it' }]);
  }
}

function wantsColor({ isTTY }: { readonly isTTY: boolean }): boolean {
  return isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
}

/** A process of somebody else may not be signalled, but is there. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** A slow reader gets everything; one that went away (`| head`) has seen enough. */
function print(text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const settle = (): void => {
    stopping.signal.removeEventListener('abort', settle);
    resolve();
  };
  process.stdout.write(`${text}\n`, settle);
  // Whoever has stopped reading altogether must not keep a command from being stopped.
  stopping.signal.addEventListener('abort', settle);
  return promise;
}

/** The end of the input counts as an empty line. */
async function ask(question: string): Promise<string> {
  process.stdout.write(question);
  try {
    for await (const line of createInterface({ input: process.stdin, terminal: false })) return line;
    process.stdout.write('\n');
    return '';
  } finally {
    // A read that is still under way would keep the process from ending.
    process.stdin.destroy();
  }
}

function listenToSignals(): void {
  for (const signal of STOPPING) {
    process.on(signal, () => {
      // Asked twice: whatever is under way is cut short, and the database takes no harm from that.
      if (stoppedBy !== undefined) {
        if (performance.now() - stoppedAt < HANDED_ON_MS) return;
        endAtOnce(128 + constants.signals[signal]);
      }
      stoppedBy = signal;
      stoppedAt = performance.now();
      stopping.abort(new StoppedError());
    });
  }
  // Node would open its debugger to whoever is on this machine, and with it everything in memory.
  process.on('SIGUSR1', () => undefined);
  process.on('SIGHUP', () => {
    for (const hangup of hangups) hangup();
  });
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      const code = codeOf(error);
      if (code !== 'EPIPE' && !outputFailed) {
        outputFailed = true;
        process.stderr.write(`league-sync: The output could not be written (${code}); send it where there is room.\n`);
      }
      // Who only reads has nothing left to do; others end their work first.
      if (onlyReads) endAtOnce(outputFailed ? EXIT.failed : EXIT.done);
    });
  }
  process.on('uncaughtException', (error) => {
    process.stderr.write(`league-sync ended on a fault of its own: ${error.name}\n${error.stack ?? ''}\n`);
    endAtOnce(EXIT.failed);
  });
}

/** Without the exit hooks of libraries, one of which may wait for a log reader that does not read. */
function endAtOnce(code: number): never {
  process.removeAllListeners('exit');
  process.exit(code);
}

const execute: Execute = async (load, options, life) => {
  // A statement that computes for hours keeps the loop from ever hearing of a signal.
  onlyReads = life === 'reads';
  if (onlyReads) for (const signal of [...STOPPING, 'SIGHUP']) process.removeAllListeners(signal);
  try {
    exitCode = await (await load())(host, options);
  } catch (error) {
    exitCode = stopping.signal.aborted && error === stopping.signal.reason ? EXIT.done : explain(error);
  }
  // A signal that came during a transaction is heard only now: when the loop has turned once, from end to end.
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  if (stoppedBy !== undefined && life === 'ends') exitCode = 128 + constants.signals[stoppedBy];
};

function explain(error: unknown): number {
  const code = exitCodeOf(error);
  const foreseen = code !== EXIT.failed || (error instanceof RunError && error.kind !== 'internal');
  if (error instanceof SettingsError) complain(layOutSettingsError(error, terminalOf(process.stderr)));
  else if (!(error instanceof Error)) complain('failed for an unknown reason.');
  else if (foreseen) warn({ message: error.message });
  else complain(error.stack ?? error.message);
  return code;
}

/** Wrapped at a terminal. */
function warn(notice: Notice): void {
  process.stderr.write(`${layOutNotice(LEAD, notice, terminalOf(process.stderr))}\n`);
}

function complain(text: string): void {
  process.stderr.write(`${LEAD}${text}\n`);
}

function terminalOf(stream: NodeJS.WriteStream): Terminal | undefined {
  if (!stream.isTTY) return undefined;
  return { columns: stream.columns || USUAL_COLUMNS, paint: createPaint(wantsColor(stream)) };
}

async function main(): Promise<void> {
  // V8 would let the space of the young objects grow to 32 MB and keep it, for a worker that does little.
  setFlagsFromString('--semi-space-growth-factor=1');
  listenToSignals();
  try {
    await createProgram(execute).parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    else exitCode = explain(error);
  }
  for (const close of logs) await close();
  if (outputFailed && exitCode === EXIT.done) exitCode = EXIT.failed;
  process.exitCode = exitCode;
  setTimeout(() => endAtOnce(exitCode), LINGER_MS).unref();
}

void main();
