import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { type Environment, eventually, type RunningProgram } from './program.ts';

/**
 * The maximum block of the event loop in tests. The program must answer a probe within 100 ms; a machine that runs four
 * tests at once takes several times as long. A loop that waits inside SQLite blocks for far longer.
 */
export const LONGEST_STANDSTILL_MS = 1_000;

const PROBE = join(import.meta.dirname, 'loop-probe.cjs');

/** The environment that enables the measurement. */
export function loopWatched({ folder }: Bench): Environment {
  return { NODE_OPTIONS: `--require ${PROBE}`, LOOP_PROBE: answerOf(folder) };
}

function answerOf(folder: string): string {
  return join(folder, 'loop.json');
}

/** The longest block (ms) of the event loop of the worker since the last call. */
export async function askStandstill({ folder }: Bench, worker: RunningProgram): Promise<number> {
  const answer = answerOf(folder);
  rmSync(answer, { force: true });
  worker.send('SIGUSR2');
  await eventually('the worker tells how long its loop stood still', () => existsSync(answer));
  const { longestMs } = JSON.parse(readFileSync(answer, 'utf8')) as { longestMs: number };
  return longestMs;
}
