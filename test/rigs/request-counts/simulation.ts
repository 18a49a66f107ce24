import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CredentialPair } from '../../../src/config/credentials.ts';
import { createRandom } from '../../../src/simulator/churn.ts';
import type { Clock } from '../../../src/time/clock.ts';
import { createTestClock } from '../../support/clock.ts';
import { fastFolder } from '../../support/folder.ts';
import type { Kind } from '../../support/service.ts';
import { type Behaviour, createCountingService, healthy, PASSWORD, type ServiceOptions } from './service.ts';
import { type CountingWorker, startWorker, type WorkerOptions } from './worker.ts';

export type World = ReturnType<typeof createWorld>;
export type SimulationOptions = ServiceOptions & Partial<Pick<WorkerOptions, 'everyMs' | 'random'>>;
export type Simulation = ReturnType<typeof createSimulation>;

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** In the middle of an interval and of a second, to avoid coincidences. */
const BEGINNING = Date.parse('2026-11-20T12:02:03.456Z');
/** The turns of the event loop that a poll takes between two clock steps. */
const TURNS = 10;
/** The waits between the attempts of a run (0.5, 1 and 2 s at most), the network delays, and a check of the clock. */
export const RUN_MS = 5 * SECOND;

/** True time, and the clocks of the worker's machine, which may be wrong. */
function createWorld() {
  const machine = createTestClock(BEGINNING, TURNS);
  const begun = machine.monotonic();
  let suspended = 0;
  let leapt = 0;
  const elapsed = (): number => machine.monotonic() - begun + suspended;
  // Like timers: whole milliseconds, at least one.
  const sleep: Clock['sleep'] = (ms, signal) => machine.sleep(Math.max(1, Math.trunc(ms)), signal);
  return {
    /** The clocks of the worker's machine. */
    clock: { now: machine.now, monotonic: () => machine.monotonic() + leapt, sleep },
    /** True time since the start, in ms. */
    elapsed,
    /** True time as a timestamp, in ms. */
    now: () => BEGINNING + elapsed(),
    /** Advances true time, and runs everything that is due until then. */
    advance: machine.advance,
    /** Steps the wall clock of the machine. No time passes. */
    stepWall: machine.step,
    /** Advances true time while the machine is suspended; only the named clocks include that time afterwards. */
    suspend: (ms: number, ...knowing: readonly ('wall' | 'monotonic')[]): void => {
      suspended += ms;
      if (knowing.includes('wall')) machine.step(ms);
      if (knowing.includes('monotonic')) leapt += ms;
    },
  };
}

/** A worker's machine and the service that it polls: the leagues every minute, the profile every hour. */
export function createSimulation(options: SimulationOptions = {}) {
  const { everyMs = MINUTE, random = createRandom(1) } = options;
  const folder = mkdtempSync(join(fastFolder(), 'league-sync-counting-'));
  const database = join(folder, 'leagues.db');
  const world = createWorld();
  const service = createCountingService(world, options);
  /** The secret file of the worker. */
  const secret = { password: PASSWORD };
  const readPair = (): CredentialPair => ({ username: 'player', ...secret });
  const workers: CountingWorker[] = [];
  return {
    database,
    world,
    service,
    secret,
    start: async (): Promise<CountingWorker> => {
      const options = { path: database, everyMs, profileEveryMs: HOUR, random, readPair };
      const worker = await startWorker(world, service, options);
      workers.push(worker);
      return worker;
    },
    /** The number of requests of this kind that the service received. */
    count: (kind: Kind): number => service.times(kind).length,
    /** Requests with a token that had expired by the service's clock. */
    dead: (): number => service.seen.filter(({ dead }) => dead).length,
    /** True times at which good polls of the leagues ended, of all workers so far. */
    goodPolls: (): readonly number[] =>
      workers
        .flatMap(({ ended }) => ended)
        .filter(({ report }) => report.kind === 'leagues' && report.error === undefined)
        .map(({ at }) => at),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      for (const worker of workers) await worker.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a worker with a service of this behaviour, and checks the invariants at the end. */
export async function runScenario(
  options: SimulationOptions,
  behaviour: Behaviour,
  run: (scenario: Simulation & { readonly worker: CountingWorker }) => Promise<void>,
): Promise<void> {
  await using simulation = createSimulation(options);
  simulation.service.setBehaviour(behaviour);
  const worker = await simulation.start();
  await run({ ...simulation, worker });
  // Contract, 4: one login at a time, even with several callers.
  expect(simulation.service.loginsAtOnce()).toBe(1);
}

/** Makes the service healthy, and expects a successful poll within this time. */
export async function expectRecovery({ world, service, goodPolls }: Simulation, withinMs: number): Promise<void> {
  const from = world.elapsed();
  service.setBehaviour(healthy);
  await world.advance(withinMs + RUN_MS);
  expect(goodPolls().filter((at) => at > from)).not.toEqual([]);
}

/** The differences between successive times. */
export function gaps(times: readonly number[]): readonly number[] {
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
}
