import { existsSync } from 'node:fs';
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import type { Mode, ProcessIO } from './commands/command.ts';
import { readDotenv, readSettings } from './config/read-environment.ts';
import { codeOf, EXIT, StoppedError } from './errors.ts';
import { createWarn, LEAD, main } from './main.ts';
import { unlessAborted, yieldToEventLoop } from './race-abort.ts';
import { splitCommands, writeAsTyped } from './terminal/advice.ts';
import { createPaint, escapeAdvice, escapeControls, PLAIN, type Terminal } from './terminal/style.ts';
import { truncate, wrap } from './terminal/text.ts';

const stopping = new AbortController();
const logs: (() => Promise<void>)[] = [];
let stoppedBy: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | undefined;
let stoppedAt = 0;
let onHangup: () => void = () => undefined;
let mode: Mode | undefined;
let advised: Parameters<ProcessIO['adviseOn']>[0] = {};
/** A command whose output could not be written fails even if its work succeeded. */
let outputFailed = false;

/** The line of progress on stderr; empty if there is none. */
let progress = '';

const STOPPING = ['SIGTERM', 'SIGINT'] as const;
/** Under npm, Ctrl-C sends SIGINT twice, from the terminal and from npm. Signals within this time count as one. */
const NPM_FORWARD_MS = process.env.npm_lifecycle_event === undefined ? 0 : 1_000;
/** Connections may take 10 s, so this is enough for three addresses. */
const ADDRESS_TIMEOUT_MS = 3_000;
/** How long (ms) open handles may delay the exit. */
const LINGER_MS = 500;
/** Linux runs it from here even if its file was replaced or deleted meanwhile. */
const OWN_PROGRAM = '/proc/self/exe';
/** What nothing can stop: a name server, or the file of a hung disk, may never answer. */
const IN_THREADS = /^(?:GetAddrInfo|FSReq)/;
/** The streams that were a terminal at the start. Under `nohup` none is, except that macOS leaves stdin as it is. */
const AT_TERMINAL = (process.platform === 'darwin' ? [1, 2] : [0, 1, 2]).filter((fd) => isatty(fd));
/** A shell that ends sends SIGHUP before its terminal is gone. */
const CLOSING_MS = 2_000;

const terminal = terminalOf(process.stdout);
const errorTerminal = terminalOf(process.stderr);
const io: ProcessIO = {
  pid: process.pid,
  nodeVersion: process.version,
  parent: () => process.ppid,
  program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
  environment: process.env,
  settings: () => readSettings(process.env, readDotenv()),
  print,
  say: (text) => print(paragraph(text)),
  printError,
  warn: createWarn(printError, errorTerminal),
  showProgress: process.stderr.isTTY && process.env.TERM !== 'dumb' ? showProgress : undefined,
  terminal,
  errorTerminal,
  readInput: () => text(process.stdin),
  ask: process.stdin.isTTY && process.stdout.isTTY ? ask : undefined,
  openLog: async (config, fd) => {
    const { openLog } = await import('./log.ts');
    const { log, close } = openLog(config, fd, fd === 1 ? terminal : errorTerminal);
    logs.push(close);
    return log;
  },
  closeLogs: async () => void (await Promise.all(logs.splice(0).map((close) => close()))),
  stop: stopping.signal,
  onHangup: (callback) => {
    onHangup = callback;
  },
  adviseOn: (database) => {
    advised = database;
  },
  splitCommands: (text, database) => splitCommands(text, { ...database, environment: process.env }),
};

function paragraph(text: string): string {
  return wrap(escapeAdvice(text, terminal), terminal.columns).join('\n');
}

/** Synchronous, as all writes to a terminal. A signal may end the process, so it is a whole line, removed from below. */
function showProgress(text: string): void {
  if (text === progress) return;
  const removal = progress === '' ? '' : '\r\x1B[A\x1B[J';
  const line = text === '' ? '' : `${truncate(escapeControls(text), errorTerminal.columns - 1)}\n`;
  process.stderr.write(removal + line);
  progress = text;
}

function clearProgress(): void {
  showProgress('');
}

function print(line: string): Promise<void> {
  clearProgress();
  const { promise, resolve } = Promise.withResolvers<void>();
  // The callback is called even if the write fails, for example with EPIPE (`| head`).
  process.stdout.write(`${line}\n`, () => resolve());
  // A stuck reader of stdout must not block the shutdown.
  return unlessAborted(promise, stopping.signal).catch(() => undefined);
}

/** Resolves with the next line of stdin. The end of the input counts as an empty line. */
async function ask(question: string): Promise<string> {
  clearProgress();
  process.stdout.write(paragraph(question));
  try {
    const { signal } = stopping;
    for await (const line of createInterface({ input: process.stdin, terminal: false, signal })) return line;
    process.stdout.write('\n');
    return '';
  } finally {
    // A pending read would keep the process alive.
    process.stdin.destroy();
  }
}

/** A closed terminal is no terminal any more: all that can be done with it fails with EIO. */
function isTerminalGone(): boolean {
  return AT_TERMINAL.some((fd) => !isatty(fd));
}

function stopBy(signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP'): void {
  // A second signal ends the process at once; SQLite recovers from that.
  if (stoppedBy !== undefined) {
    if (performance.now() - stoppedAt < NPM_FORWARD_MS) return;
    exitNow(128 + constants.signals[signal]);
  }
  stoppedBy = signal;
  stoppedAt = performance.now();
  stopping.abort(new StoppedError());
}

function hangUp(): void {
  // Both the kernel and the shell send it when a terminal is closed, so another one is no second signal.
  if (stoppedBy !== undefined) return;
  if (mode === 'oneShot' || isTerminalGone()) stopBy('SIGHUP');
  else {
    onHangup();
    setTimeout(() => isTerminalGone() && hangUp(), CLOSING_MS).unref();
  }
}

function listenToSignals(): void {
  for (const signal of STOPPING) process.on(signal, stopBy);
  process.on('SIGHUP', hangUp);
  // Without a listener, Node would open its inspector, which exposes all memory, secrets included.
  process.on('SIGUSR1', () => undefined);
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      const code = codeOf(error);
      if (code !== 'EPIPE' && !outputFailed && !isTerminalGone()) {
        outputFailed = true;
        printError(`${LEAD}The output could not be written (${code}); redirect it to a place with free space.`);
      }
      if (stream === process.stdout && (mode === 'readOnly' || mode === 'follow'))
        exitNow(outputFailed ? EXIT.failed : EXIT.done);
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
  // Only another program in the place of this one has none of its threads, for which `exit` waits.
  if (process.getActiveResourcesInfo().some((name) => IN_THREADS.test(name)) && existsSync(OWN_PROGRAM)) {
    const { LD_LIBRARY_PATH: libraries } = process.env;
    const environment = libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries };
    process.execve?.(OWN_PROGRAM, ['node', '--eval', `process.exit(${code})`], environment);
  }
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
  clearProgress();
  process.stderr.write(`${text}\n`);
}

function asTyped(text: string): string {
  return writeAsTyped(text, { ...advised, environment: process.env });
}

function terminalOf(stream: NodeJS.WriteStream): Terminal {
  if (!stream.isTTY) return { ...PLAIN, asTyped };
  const hasColor = !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return {
    // Read anew each time, since the user may resize the window of a worker.
    get columns() {
      return stream.columns || 80;
    },
    paint: createPaint(hasColor),
    clear: clearProgress,
    asTyped,
  };
}

async function runProcess(): Promise<void> {
  // Without this flag, V8's new space grows to 48 MB and stays there, although the worker is mostly idle.
  setFlagsFromString('--semi-space-growth-factor=1');
  // Node's 250 ms for each address of a name but the last are too short for a distant server.
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_TIMEOUT_MS);
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
