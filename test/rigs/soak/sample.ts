import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Bench } from '../../support/bench.ts';
import { eventually, type RunningProgram } from '../../support/program.ts';

/** The resources of a worker at one moment; sizes in bytes. */
export type Look = {
  readonly polls: number;
  /** After forced garbage collections. */
  readonly heap: number;
  readonly files: number;
  /** The active resources by type, which keep the process alive, as counted by Node. */
  readonly resources: Readonly<Record<string, number>>;
  readonly wal: number;
};

/** Longer than a run and a Retry-After, so that temporary resources are released in one of the samples. */
const FIRST_LOOK_MS = 3_000;
/** The limit on a busy machine. */
const LONGEST_LOOK_MS = 10_000;
const REST_MS = 150;
/** What is in use for a moment may be in each sample of a busy machine. A leak in one of 100 polls is more. */
const MOST_TEMPORARY = 2;
const PROBE = join(import.meta.dirname, 'probe.cjs');
const PROC = '/proc/self/fd';

/** Why open files cannot be counted here; undefined if they can. */
export const NO_COUNT = existsSync(PROC) ? undefined : 'open files are counted in /proc, which this system has not';

/** The environment that enables the measurement. */
export function probed({ folder }: Bench): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--expose-gc --require ${PROBE}`, SOAK_PROBE: answerOf(folder) };
}

function answerOf(folder: string): string {
  return join(folder, 'probe.json');
}

/**
 * Takes several samples, since temporary resources come and go, while leaks stay. Returns the minimum of each count;
 * with `earlier`, as soon as that is hardly more than then.
 */
export async function look(bench: Bench, worker: RunningProgram, polls: number, earlier?: Look): Promise<Look> {
  const beganAt = performance.now();
  const samples = [await lookOnce(bench, worker, polls)];
  for (;;) {
    const spentMs = performance.now() - beganAt;
    const result = minimum(samples);
    const enough = earlier === undefined ? spentMs >= FIRST_LOOK_MS : holdsNoMore(result, earlier);
    if (enough || spentMs >= LONGEST_LOOK_MS) return result;
    await wait(REST_MS);
    samples.push(await lookOnce(bench, worker, polls));
  }
}

/** Whether there are hardly more files and resources of any type than before. */
function holdsNoMore(now: Look, earlier: Look): boolean {
  const counts = Object.entries({ ...now.resources, files: now.files });
  const before: Readonly<Record<string, number>> = { ...earlier.resources, files: earlier.files };
  return counts.every(([type, count]) => count <= (before[type] ?? 0) + MOST_TEMPORARY);
}

export function expectHoldsNoMore(now: Look | undefined, earlier: Look | undefined): void {
  if (now === undefined || earlier === undefined) throw new Error('the worker was not looked at');
  const what = ({ files, resources }: Look) => ({ files, resources });
  // Only prints a difference if there is one.
  if (!holdsNoMore(now, earlier)) expect(what(now), `held after ${now.polls} polls`).toEqual(what(earlier));
}

type Told = { readonly memory: { readonly heapUsed: number }; readonly resources: Look['resources'] };

async function lookOnce({ folder, database }: Bench, worker: RunningProgram, polls: number): Promise<Look> {
  const answer = answerOf(folder);
  rmSync(answer, { force: true });
  worker.send('SIGUSR2');
  await eventually('the worker tells what it holds', () => existsSync(answer));
  const { memory, resources } = JSON.parse(readFileSync(answer, 'utf8')) as Told;
  return {
    polls,
    heap: memory.heapUsed,
    files: readdirSync(`/proc/${worker.pid}/fd`).length,
    resources,
    wal: statSync(`${database}-wal`).size,
  };
}

/** The running child processes. */
export function childrenOf(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/** Takes each count by itself. */
function minimum(samples: readonly Look[]): Look {
  const [first] = samples;
  if (first === undefined) throw new Error('the worker was not looked at');
  const least = (count: (sample: Look) => number): number => Math.min(...samples.map(count));
  const types = new Set(samples.flatMap(({ resources }) => Object.keys(resources)));
  return {
    ...first,
    heap: least(({ heap }) => heap),
    files: least(({ files }) => files),
    resources: Object.fromEntries([...types].map((type) => [type, least(({ resources }) => resources[type] ?? 0)])),
    wal: least(({ wal }) => wal),
  };
}
