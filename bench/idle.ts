import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Simulator, startSimulator } from '../src/simulator/simulator.ts';

// What an idle worker costs, and how soon it is at work: the built program against the simulated service. Slow figures
// are printed like any other; only what cannot be measured is a failure.

const PROGRAM = join(import.meta.dirname, '../dist/league-sync.cjs');
const STARTS = 7;
const MEMORY_STARTS = 3;
const POLLS = 10;
const IDLE_MS = 5_000;
/** Far more than any start or ten polls take: past it the worker is stuck, and there is nothing to measure. */
const PATIENCE_MS = 60_000;
/** Between the spawn and the first scheduled poll, so that the start is over by then. */
const HEADROOM_S = 3;
/** A schedule with one slot, as far away as slots get. */
const NEVER = '0 0 29 2 *';

type Worker = AsyncDisposable & {
  readonly pid: number;
  readonly spawnedAt: number;
  /** Resolves to the instant of its count-th finished poll. */
  readonly polled: (count: number) => Promise<number>;
};
type Start = { readonly requestMs: number; readonly storedMs: number };
type Memory = { readonly residentMB: number; readonly anonymousMB: number; readonly peakMB: number };

/** A worker with an environment of its own: what the caller's shell happens to set is no part of the figures. */
function startWorker(folder: string, url: string, schedule: string): Worker {
  const spawnedAt = Date.now();
  const child = spawn(process.execPath, [PROGRAM, 'run'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
      LEAGUE_SYNC_BASE_URL: url,
      LEAGUE_SYNC_USERNAME: 'player',
      LEAGUE_SYNC_PASSWORD: 'secret-password',
      LEAGUE_SYNC_DATABASE: join(folder, 'leagues.db'),
      LEAGUE_SYNC_LISTEN: '127.0.0.1:0',
      LEAGUE_SYNC_SCHEDULE: schedule,
      LEAGUE_SYNC_LOG_FORMAT: 'json',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.pid === undefined) throw new Error('the worker could not be started');
  const polled = watchPolls(child);
  return { pid: child.pid, spawnedAt, polled, [Symbol.asyncDispose]: () => end(child) };
}

/** Reads the log: a poll is on disk by the time that its line is written. */
function watchPolls(child: ChildProcess): Worker['polled'] {
  const instants: number[] = [];
  if (child.stdout === null) throw new Error('the log of the worker is not to be had');
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { run, outcome } = JSON.parse(line) as { run?: string; outcome?: string };
    if (run === 'leagues' && (outcome === 'changed' || outcome === 'unchanged')) instants.push(Date.now());
  });
  return async (count) => {
    for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await sleep(10)) {
      const instant = instants[count - 1];
      if (instant !== undefined) return instant;
      if (child.exitCode !== null) throw new Error(`the worker ended with exit code ${child.exitCode}`);
    }
    throw new Error(`only ${instants.length} of ${count} polls were stored within ${PATIENCE_MS / 1_000} s`);
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Starts a worker on an empty database, `folder` keeping nothing but the compile cache of earlier starts. */
async function measureStart(folder: string): Promise<Start> {
  rmSync(join(folder, 'leagues.db'), { force: true });
  await using simulator = await startSimulator();
  await using worker = startWorker(folder, simulator.url, NEVER);
  const storedAt = await worker.polled(1);
  return { requestMs: firstRequestAt(simulator) - worker.spawnedAt, storedMs: storedAt - worker.spawnedAt };
}

function firstRequestAt({ requests }: Simulator): number {
  const [first] = requests;
  if (first === undefined) throw new Error('the service saw no request');
  return first.at;
}

async function measureMemory(folder: string): Promise<Memory> {
  rmSync(join(folder, 'leagues.db'), { force: true });
  await using simulator = await startSimulator();
  await using worker = startWorker(folder, simulator.url, everySecond(POLLS));
  // The one at the start comes on top of the scheduled ones.
  await worker.polled(1 + POLLS);
  await sleep(IDLE_MS);
  const status = readFileSync(`/proc/${worker.pid}/status`, 'utf8');
  return {
    residentMB: megabytes(status, 'VmRSS'),
    anonymousMB: megabytes(status, 'RssAnon'),
    peakMB: megabytes(status, 'VmHWM'),
  };
}

/** A slot in each of the next seconds, then none until their minute comes round: polls first, then quiet. */
function everySecond(slots: number): string {
  const from = Math.ceil(Date.now() / 1_000) + HEADROOM_S;
  const seconds = Array.from({ length: slots }, (_, index) => (from + index) % 60);
  return `${seconds.sort((a, b) => a - b).join(',')} * * * * *`;
}

function megabytes(status: string, name: string): number {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`/proc tells no ${name}`);
  return Number(kilobytes) / 1_024;
}

async function repeat<T>(times: number, measure: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < times) results.push(await measure());
  return results;
}

function row(what: string, values: readonly number[], unit: string, aim = ''): string {
  const sorted = values.toSorted((a, b) => a - b);
  const cells = [sorted[Math.floor(sorted.length / 2)], sorted[0], sorted.at(-1)];
  return `${what.padEnd(46)}${cells.map((cell) => (cell ?? 0).toFixed(0).padStart(8)).join('')}  ${unit}  ${aim}`.trimEnd();
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'league-sync-bench-'));
  try {
    const cold = await repeat(STARTS, () => {
      rmSync(join(folder, 'compile-cache'), { recursive: true, force: true });
      return measureStart(folder);
    });
    const warm = await repeat(STARTS, () => measureStart(folder));
    const memory = await repeat(MEMORY_STARTS, () => measureMemory(folder));
    console.log(`${cpus().length} cores, ${cpus()[0]?.model ?? 'CPU unknown'}, Node ${process.version}\n`);
    console.log(`${''.padEnd(46)}${['median', 'least', 'most'].map((head) => head.padStart(8)).join('')}`);
    const figures = [
      row('first start, spawn to first request', pick(cold, 'requestMs'), 'ms', '< 400'),
      row('first start, spawn to first stored poll', pick(cold, 'storedMs'), 'ms'),
      row('later start, spawn to first request', pick(warm, 'requestMs'), 'ms', '< 400'),
      row('later start, spawn to first stored poll', pick(warm, 'storedMs'), 'ms'),
      row('idle after ten polls, resident', pick(memory, 'residentMB'), 'MB', '< 110'),
      row('idle after ten polls, of it anonymous', pick(memory, 'anonymousMB'), 'MB'),
      row('idle after ten polls, highest until then', pick(memory, 'peakMB'), 'MB'),
    ];
    console.log(figures.join('\n'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function pick<Key extends string>(measured: readonly Readonly<Record<Key, number>>[], key: Key): readonly number[] {
  return measured.map((one) => one[key]);
}

await main();
