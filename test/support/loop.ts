import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { type Environment, eventually, type RunningProgram } from './program.ts';

/**
 * A probe has to be answered within 100 ms. A machine that runs four tests at once takes a multiple of what the program
 * does, so this is how long the loop may stand still here; one that waits inside SQLite stands still for as long as that.
 */
export const LONGEST_STANDSTILL_MS = 500;

const PROBE = join(import.meta.dirname, 'loop-probe.cjs');

/** What has to be in the environment of a worker whose event loop is watched. */
export function loopWatched({ folder }: Bench): Environment {
  return { NODE_OPTIONS: `--require ${PROBE}`, LOOP_PROBE: answerOf(folder) };
}

function answerOf(folder: string): string {
  return join(folder, 'loop.json');
}

/** The longest time (ms) for which the worker's event loop stood still since it was asked last. */
export async function askStandstill({ folder }: Bench, worker: RunningProgram): Promise<number> {
  const answer = answerOf(folder);
  rmSync(answer, { force: true });
  worker.send('SIGUSR2');
  await eventually('the worker tells how long its loop stood still', () => existsSync(answer));
  const { longestMs } = JSON.parse(readFileSync(answer, 'utf8')) as { longestMs: number };
  return longestMs;
}
