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
 * Takes several samples, since temporary resources come and go, while leaks stay. Returns the median of each count; with
 * `earlier`, the minimum, as soon as that is no more than then. A minimum as the measure would be one sample that
 * caught the worker without a timer which it nearly always has.
 */
export async function look(bench: Bench, worker: RunningProgram, polls: number, earlier?: Look): Promise<Look> {
  const beganAt = performance.now();
  const samples = [await lookOnce(bench, worker, polls)];
  for (;;) {
    const spentMs = performance.now() - beganAt;
    const result = earlier === undefined ? quantile(samples, 1 / 2) : quantile(samples, 0);
    const enough = earlier === undefined ? spentMs >= FIRST_LOOK_MS : holdsNoMore(result, earlier);
    if (enough || spentMs >= LONGEST_LOOK_MS) return result;
    await wait(REST_MS);
    samples.push(await lookOnce(bench, worker, polls));
  }
}

/** Whether there are no more files and resources of any type than before. */
function holdsNoMore(now: Look, earlier: Look): boolean {
  const grown = Object.entries(now.resources).filter(([type, count]) => count > (earlier.resources[type] ?? 0));
  return grown.length === 0 && now.files <= earlier.files;
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

/** Takes each count by itself: the one at this part of the samples in ascending order. */
function quantile(samples: readonly Look[], part: number): Look {
  const [first] = samples;
  if (first === undefined) throw new Error('the worker was not looked at');
  const at = (count: (sample: Look) => number): number =>
    samples.map(count).toSorted((one, other) => one - other)[Math.floor((samples.length - 1) * part)] ?? 0;
  const types = new Set(samples.flatMap(({ resources }) => Object.keys(resources)));
  return {
    ...first,
    heap: at(({ heap }) => heap),
    files: at(({ files }) => files),
    resources: Object.fromEntries([...types].map((type) => [type, at(({ resources }) => resources[type] ?? 0)])),
    wal: at(({ wal }) => wal),
  };
}
