import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { eventually } from '../../support/program.ts';
import { failing, type Injection } from './syscall.ts';

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
