import { appendFileSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessIO } from '../../src/commands/process.ts';
import { readDotenv, readSettings } from '../../src/config/environment.ts';
import { codeOf } from '../../src/errors.ts';
import { openLog } from '../../src/log.ts';
import { createWarn, main } from '../../src/main.ts';
import { watchProgram } from './leak.ts';
import { type Exit, PROGRAM, type ProgramOptions } from './program.ts';

type CommandOptions = Pick<ProgramOptions, 'env' | 'cwd' | 'input'>;

/**
 * Runs a command to its end in the test's own process, which takes a tenth of the time of a process of its own. What
 * only a process can show (signals, streams, memory, what is loaded) needs `runProgram`.
 */
export async function runCommand(
  args: readonly string[],
  { env = {}, cwd, input = '' }: CommandOptions,
): Promise<Exit> {
  using _ = enterFolder(cwd);
  const streams = mkdtempSync(join(tmpdir(), 'league-sync-streams-'));
  const [stdout, stderr] = [join(streams, 'stdout'), join(streams, 'stderr')];
  const write = (file: string) => (text: string) => appendFileSync(file, `${text}\n`);
  for (const file of [stdout, stderr]) appendFileSync(file, '');
  const printError = write(stderr);
  const logs: (() => Promise<void>)[] = [];
  const environment = { PATH: process.env.PATH, HOME: cwd, ...env };
  const io: ProcessIO = {
    pid: process.pid,
    parent: () => process.ppid,
    program: [process.execPath, PROGRAM],
    environment,
    settings: () => readSettings(environment, readDotenv()),
    print: async (text) => write(stdout)(text),
    printError,
    warn: createWarn(printError, undefined),
    terminal: undefined,
    errorTerminal: undefined,
    readInput: async () => input,
    isAlive,
    ask: undefined,
    openLog: async (config, fd) => {
      const file = openSync(fd === 1 ? stdout : stderr, 'a');
      const { log, close } = openLog(config, file, undefined);
      logs.push(close);
      return log;
    },
    stop: new AbortController().signal,
    onHangup: () => undefined,
  };
  const read = () => ({ stdout: readFileSync(stdout, 'utf8'), stderr: readFileSync(stderr, 'utf8') });
  try {
    const code = await main(args, io, () => undefined);
    for (const close of logs) await close();
    const output = read();
    watchProgram({ args, cwd, env }, () => output, Promise.resolve());
    return { code, signal: null, ...output };
  } finally {
    rmSync(streams, { recursive: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
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
