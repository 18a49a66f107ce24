import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually } from '../../support/program.ts';

/** The system calls on files that can be made to fail. */
export const CALLS = ['pwrite64', 'write', 'fsync', 'fdatasync', 'ftruncate'] as const;
export type Call = (typeof CALLS)[number];

/** A failing system call: only the n-th, that and all after it, or up to `upTo`. */
export type Injection = {
  readonly call: Call | 'unlink' | 'pread64' | 'openat' | 'fcntl';
  readonly error: 'EIO' | 'ENOSPC' | 'EROFS' | 'EMFILE' | 'ENOLCK';
  readonly nth: number;
  readonly upTo: 'once' | 'for ever' | number;
};

/** Why calls cannot be made to fail here; undefined if they can. */
export function missingStrace(): string | undefined {
  try {
    execFileSync(STRACE, ['-qq', '-e', 'trace=none', 'true'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'strace is not here, or may not trace';
  }
}

/** The prefix that makes these calls fail, on the database and the files beside it. */
export function failing(database: string, injection: Injection): readonly string[] {
  const { call, error } = injection;
  return [
    ...trace(database, [call]),
    '-o',
    '/dev/null',
    '-e',
    `inject=${call}:error=${error}:when=${whenOf(injection)}`,
  ];
}

function whenOf({ nth, upTo }: Injection): string {
  if (upTo === 'once') return `${nth}`;
  return upTo === 'for ever' ? `${nth}+` : `${nth}..${nth + upTo - 1}`;
}

/** The prefix that counts the calls on the database, with results in this folder. */
export function counting(database: string, folder: string): readonly string[] {
  return [...trace(database, CALLS), '-o', join(folder, COUNTED)];
}

/** The counted calls by kind. */
export function countsIn(folder: string): ReadonlyMap<Call, number> {
  const lines = readFileSync(join(folder, COUNTED), 'utf8').split('\n');
  return new Map(CALLS.map((call) => [call, lines.filter((line) => line.includes(` ${call}(`)).length]));
}

const STRACE = 'strace';
const COUNTED = 'counted.txt';
/** Every file that SQLite keeps for the database and its lock. */
const FILES = ['', '-wal', '-shm', '-journal', '.lock', '.lock-wal', '.lock-shm', '.lock-journal'];

/** With `-D` the program stays our child, so that signals reach it and its exit code is its own. */
function trace(database: string, calls: readonly string[]): readonly string[] {
  const paths = FILES.flatMap((end) => ['-P', `${database}${end}`]);
  return [STRACE, '-D', '-f', '-qq', ...paths, '-e', `trace=${calls.join(',')}`, '-e', 'signal=none'];
}

/** For the name of a test or of a case in it. */
export function describeInjection({ call, error, nth, upTo }: Injection): string {
  const extent = typeof upTo === 'number' ? `${upTo} times` : upTo;
  return `${call} ${nth} fails with ${error} ${extent}`;
}

/** Makes system calls of a running program fail, until the returned function is called. */
export async function failFromNowOn(
  pid: number,
  database: string,
  fault: Pick<Injection, 'call' | 'error'>,
): Promise<() => Promise<void>> {
  const [strace = '', ...options] = failing(database, { ...fault, nth: 1, upTo: 'for ever' });
  const tracer = spawn(strace, [...options.filter((option) => option !== '-D'), '-p', String(pid)], {
    stdio: 'ignore',
  });
  const ended = once(tracer, 'exit');
  onTestFinished(() => {
    tracer.kill('SIGKILL');
  });
  await eventually('every thread is traced', () => threadsOf(pid).every((status) => !/^TracerPid:\t0$/m.test(status)));
  return async () => {
    tracer.kill('SIGINT');
    await ended;
  };
}

function threadsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'));
}
