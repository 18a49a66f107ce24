import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** GNU time, which reports memory, not the shell built-in. */
export const TIME = '/usr/bin/time';

/** What a process cost. */
export type Cost = {
  /** From spawn to exit. */
  readonly wallMs: number;
  /** Processor time in user and kernel mode. */
  readonly processorMs: number;
  readonly peakBytes: number;
};

export type Command = {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/**
 * Runs a program to its end. Its environment is independent of the caller's shell. `kept` is a folder for caches
 * between starts, such as compiled code.
 */
export async function runTimed({ args, env = {} }: Command, folder: string, kept: string): Promise<Cost> {
  settleDisk();
  const report = join(folder, 'cost.txt');
  const began = performance.now();
  const child = spawn(TIME, ['--quiet', '--output', report, '--format', '%U %S %M', ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: kept, TMPDIR: kept, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A process group of its own: killing only `time` would leave the timed program running.
    detached: true,
  });
  using _guard = leaveNoOrphan(() => killGroup(child));
  const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  const wallMs = performance.now() - began;
  if (code !== 0) throw new Error(`"${args.slice(0, 3).join(' ')}" ended with exit code ${code}:\n${said}`);
  const [user = Number.NaN, system = Number.NaN, kilobytes = Number.NaN] = readFileSync(report, 'utf8')
    .split(' ')
    .map(Number);
  return { wallMs, processorMs: (user + system) * 1_000, peakBytes: kilobytes * 1_024 };
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}

/** Flushes dirty pages of other programs, so that they do not reach the disk during a measurement. */
function settleDisk(): void {
  spawnSync('sync');
}

/** Ends a child process together with this one, unless this one ends by SIGKILL. Dispose of it once the child has ended. */
export function leaveNoOrphan(kill: () => void): Disposable {
  // Prepended to all other exit handlers: a running child would write into folders that are being removed.
  process.prependOnceListener('exit', kill);
  return {
    [Symbol.dispose]: () => {
      process.off('exit', kill);
    },
  };
}
