import { appendFileSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ProcessIO } from '../../src/commands/command.ts';
import { readDotenv, readSettings } from '../../src/config/read-environment.ts';
import { StoppedError } from '../../src/errors.ts';
import { openLog } from '../../src/log.ts';
import { createWarn, main } from '../../src/main.ts';
import { escapeControls, PLAIN } from '../../src/terminal/style.ts';
import { watchProgram } from './leak.ts';
import { requireLogNames } from './log-lines.ts';
import {
  COMPILED,
  createProgramLog,
  DEADLINE_MS,
  type Exit,
  PROGRAM,
  type ProgramOptions,
  type RunningProgram,
} from './program.ts';

type CommandOptions = Pick<ProgramOptions, 'env' | 'cwd' | 'input'>;

/**
 * Runs a command to its end in the test's own process, which takes a tenth of the time of a process of its own. What
 * only a process can show (signals, streams, memory, what is loaded) needs `runProgram`.
 */
export async function runCommand(args: readonly string[], options: CommandOptions): Promise<Exit> {
  using command = openCommand(args, options);
  const exit = await command.run(new AbortController().signal);
  const { env = {}, cwd } = options;
  watchProgram({ args, cwd, env }, command.read, Promise.resolve());
  return exit;
}

/** How often (ms) the log of a worker in this process is read. */
const LOG_READ_MS = 5;

/**
 * Starts a worker in the test's own process. It understands SIGTERM and SIGHUP, and ends with the test. A worker that
 * is killed, or that another process looks at, needs `startProgram`.
 */
export function startWorker(options: CommandOptions): RunningProgram {
  const args = ['run'];
  const command = openCommand(args, options);
  const stop = new AbortController();
  const lines = createProgramLog(command.read, command.hangUp);
  let bytes = 0;
  let characters = 0;
  const readLog = (): void => {
    if (command.stdoutBytes() === bytes) return;
    const { stdout } = command.read();
    bytes = Buffer.byteLength(stdout);
    lines.add(stdout.slice(characters));
    characters = stdout.length;
  };
  const reading = setInterval(readLog, LOG_READ_MS);
  const exited = command.run(stop.signal).finally(() => {
    clearInterval(reading);
    readLog();
    lines.end();
  });
  const { env = {}, cwd } = options;
  watchProgram({ args, cwd, env }, command.read, exited);
  const end = async (): Promise<Exit> => {
    stop.abort(new StoppedError());
    const overtime = wait(DEADLINE_MS, undefined, { ref: false }).then(() => {
      throw new Error('The worker did not stop.');
    });
    return Promise.race([exited, overtime]);
  };
  onTestFinished(async () => {
    await end();
    command[Symbol.dispose]();
    requireLogNames(lines.reader.log());
  });
  return {
    ...lines.reader,
    pid: process.pid,
    send: (signal) => {
      if (signal === 'SIGHUP') return command.hangUp();
      if (signal !== 'SIGTERM') throw new Error(`Only a process of its own understands ${signal}.`);
      void end();
    },
    stop: (signal = 'SIGTERM') => {
      if (signal !== 'SIGTERM') throw new Error(`Only a process of its own understands ${signal}.`);
      return end();
    },
    waitForExit: () => exited,
  };
}

type Output = Pick<Exit, 'stdout' | 'stderr'>;

/** A command in this process, whose streams are files. */
function openCommand(args: readonly string[], { env = {}, cwd, input = '' }: CommandOptions) {
  const entered = enterFolder(cwd);
  const streams = mkdtempSync(join(tmpdir(), 'league-sync-streams-'));
  const [stdout, stderr] = [join(streams, 'stdout'), join(streams, 'stderr')];
  const write = (file: string) => (text: string) => appendFileSync(file, `${text}\n`);
  for (const file of [stdout, stderr]) appendFileSync(file, '');
  const printError = write(stderr);
  const logs: (() => Promise<void>)[] = [];
  const onHangup: (() => void)[] = [];
  const environment = { PATH: process.env.PATH, HOME: cwd, NODE_COMPILE_CACHE: COMPILED, ...env };
  const io: Omit<ProcessIO, 'stop'> = {
    pid: process.pid,
    nodeVersion: process.version,
    parent: () => process.ppid,
    program: [process.execPath, PROGRAM],
    environment,
    settings: () => readSettings(environment, readDotenv()),
    print: async (text) => write(stdout)(text),
    say: async (text) => write(stdout)(escapeControls(text)),
    printError,
    warn: createWarn(printError, PLAIN),
    showProgress: undefined,
    terminal: PLAIN,
    errorTerminal: PLAIN,
    readInput: async () => input,
    ask: undefined,
    openLog: async (config, fd) => {
      const { log, close } = openLog(config, openSync(fd === 1 ? stdout : stderr, 'a'), PLAIN);
      logs.push(close);
      return log;
    },
    closeLogs: async () => {
      for (const close of logs.splice(0)) await close();
    },
    adviseOn: () => undefined,
    splitCommands: (text) => [text],
    onHangup: (callback) => {
      onHangup.push(callback);
    },
  };
  let last: Output | undefined;
  const read = (): Output => last ?? { stdout: readFileSync(stdout, 'utf8'), stderr: readFileSync(stderr, 'utf8') };
  return {
    read,
    stdoutBytes: () => (last === undefined ? statSync(stdout).size : 0),
    hangUp: () => {
      for (const callback of onHangup) callback();
    },
    run: async (stop: AbortSignal): Promise<Exit> => {
      const code = await main(args, { ...io, stop }, () => undefined);
      await io.closeLogs();
      return { code, signal: null, ...read() };
    },
    [Symbol.dispose]: () => {
      entered[Symbol.dispose]();
      last = read();
      rmSync(streams, { recursive: true });
    },
  };
}

const home = process.cwd();
let entered: { readonly folder: string; commands: number } | undefined;

/** A process has one working directory, so commands that run at the same time must share it. */
function enterFolder(folder: string): Disposable {
  entered ??= { folder, commands: 0 };
  if (entered.folder !== folder) throw new Error('Await the command in the other folder first.');
  entered.commands += 1;
  process.chdir(folder);
  return {
    [Symbol.dispose]: () => {
      if (entered === undefined) return;
      entered.commands -= 1;
      if (entered.commands > 0) return;
      entered = undefined;
      process.chdir(home);
    },
  };
}
