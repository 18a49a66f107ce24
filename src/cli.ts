import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import type { Mode, ProcessIO } from './commands/command.ts';
import { readDotenv, readSettings } from './config/environment.ts';
import { codeOf, EXIT, StoppedError } from './errors.ts';
import { createWarn, LEAD, main } from './main.ts';
import { unlessAborted, yieldToEventLoop } from './race-abort.ts';
import { createPaint, type Terminal } from './terminal/style.ts';

const stopping = new AbortController();
const logs: (() => Promise<void>)[] = [];
let stoppedBy: 'SIGTERM' | 'SIGINT' | undefined;
let stoppedAt = 0;
let mode: Mode | undefined;
/** A command whose output could not be written fails even if its work succeeded. */
let outputFailed = false;

const STOPPING = ['SIGTERM', 'SIGINT'] as const;
/** Under npm, Ctrl-C sends SIGINT twice, from the terminal and from npm. Signals within this time count as one. */
const NPM_FORWARD_MS = process.env.npm_lifecycle_event === undefined ? 0 : 1_000;
/** How long (ms) open handles may delay the exit. */
const LINGER_MS = 500;

const io: ProcessIO = {
  pid: process.pid,
  parent: () => process.ppid,
  program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
  environment: process.env,
  settings: () => readSettings(process.env, readDotenv()),
  print,
  printError,
  warn: createWarn(printError, terminalOf(process.stderr)),
  terminal: terminalOf(process.stdout),
  errorTerminal: terminalOf(process.stderr),
  readInput: () => text(process.stdin),
  isAlive,
  hangUp: (pid) => void process.kill(pid, 'SIGHUP'),
  ask: process.stdin.isTTY && process.stdout.isTTY ? ask : undefined,
  openLog: async (config, fd) => {
    const { openLog } = await import('./log.ts');
    const stream = fd === 1 ? process.stdout : process.stderr;
    const { log, close } = await openLog(config, fd, terminalOf(stream));
    logs.push(close);
    return log;
  },
  closeLogs: async () => void (await Promise.all(logs.splice(0).map((close) => close()))),
  stop: stopping.signal,
  onHangup: (callback) => process.on('SIGHUP', callback),
};

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process exists, but belongs to another user.
    return codeOf(error) === 'EPERM';
  }
}

function print(line: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // The callback is called even if the write fails, for example with EPIPE (`| head`).
  process.stdout.write(`${line}\n`, () => resolve());
  // A stuck reader of stdout must not block the shutdown.
  return unlessAborted(promise, stopping.signal).catch(() => undefined);
}

/** Resolves with the next line of stdin. The end of the input counts as an empty line. */
async function ask(question: string): Promise<string> {
  process.stdout.write(question);
  try {
    for await (const line of createInterface({ input: process.stdin, terminal: false })) return line;
    process.stdout.write('\n');
    return '';
  } finally {
    // A pending read would keep the process alive.
    process.stdin.destroy();
  }
}

function listenToSignals(): void {
  for (const signal of STOPPING) {
    process.on(signal, () => {
      // A second signal ends the process at once; SQLite recovers from that.
      if (stoppedBy !== undefined) {
        if (performance.now() - stoppedAt < NPM_FORWARD_MS) return;
        exitNow(128 + constants.signals[signal]);
      }
      stoppedBy = signal;
      stoppedAt = performance.now();
      stopping.abort(new StoppedError());
    });
  }
  // Without a listener, Node would open its inspector, which exposes all memory, secrets included.
  process.on('SIGUSR1', () => undefined);
  // Without a listener, SIGHUP would end the commands that do not handle it themselves.
  process.on('SIGHUP', () => undefined);
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      const code = codeOf(error);
      if (code !== 'EPIPE' && !outputFailed) {
        outputFailed = true;
        printError(`${LEAD}The output could not be written (${code}); redirect it to a place with free space.`);
      }
      if (mode === 'readOnly' || mode === 'follow') exitNow(outputFailed ? EXIT.failed : EXIT.done);
    });
  }
  process.on('uncaughtException', (error) => {
    process.stderr.write(`league-sync crashed: ${error.name}\n${error.stack ?? ''}\n`);
    exitNow(EXIT.failed);
  });
}

/** Skips the exit hooks of libraries, since pino's hook waits for a stuck log reader. */
function exitNow(code: number): never {
  process.removeAllListeners('exit');
  process.exit(code);
}

function begin(as: Mode): void {
  mode = as;
  // A long SQL statement blocks the event loop, so no listener would run. Without listeners, a signal ends the process.
  if (as === 'readOnly') for (const signal of STOPPING) process.removeAllListeners(signal);
  // A terminal sends SIGHUP when it is closed.
  if (as === 'readOnly' || as === 'follow') process.removeAllListeners('SIGHUP');
}

function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}

function terminalOf(stream: NodeJS.WriteStream): Terminal | undefined {
  if (!stream.isTTY) return undefined;
  const hasColor = !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return {
    // Read anew each time, since the user may resize the window of a worker.
    get columns() {
      return stream.columns || 80;
    },
    paint: createPaint(hasColor),
  };
}

async function runProcess(): Promise<void> {
  // Without this flag, V8's new space grows to 48 MB and stays there, although the worker is mostly idle.
  setFlagsFromString('--semi-space-growth-factor=1');
  listenToSignals();
  let exitCode = await main(process.argv.slice(2), io, begin);
  // A signal that arrived during a transaction is delivered only after a full turn of the event loop.
  for (let turn = 0; turn < 2; turn += 1) await yieldToEventLoop();
  if (stoppedBy !== undefined && mode === 'oneShot') exitCode = 128 + constants.signals[stoppedBy];
  await io.closeLogs();
  if (outputFailed && exitCode === EXIT.done) exitCode = EXIT.failed;
  process.exitCode = exitCode;
  setTimeout(() => exitNow(exitCode), LINGER_MS).unref();
}

void runProcess();
