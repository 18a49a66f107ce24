import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CredentialPair } from '../../../src/config/credentials.ts';
import { fastFolder } from '../../support/folder.ts';
import type { Kind } from '../../support/service.ts';
import { createRandomSource, createWorld, type World } from './machine.ts';
import { type CountingService, createCountingService, PASSWORD, type ServiceOptions } from './service.ts';
import { type CountingWorker, startWorker, type WorkerOptions } from './worker.ts';

export type SimulationOptions = ServiceOptions & Partial<Pick<WorkerOptions, 'everyMs' | 'profileEveryMs' | 'random'>>;

/** A worker's machine and the service that it polls. */
export type Simulation = AsyncDisposable & {
  readonly world: World;
  readonly service: CountingService;
  /** The secret file of the worker. */
  readonly secret: { password: string };
  readonly start: () => Promise<CountingWorker>;
  /** The number of requests of this kind that the service received. */
  readonly count: (kind: Kind) => number;
  /** Requests with a token that had expired by the service's clock. */
  readonly dead: () => number;
  /** True times at which good polls of the leagues ended, of all workers so far. */
  readonly goodPolls: () => readonly number[];
};

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function createSimulation(options: SimulationOptions = {}): Simulation {
  const { everyMs = 5 * MINUTE, profileEveryMs = HOUR, random = createRandomSource() } = options;
  const folder = mkdtempSync(join(fastFolder(), 'league-sync-counting-'));
  const world = createWorld();
  const service = createCountingService(world, options);
  const secret = { password: PASSWORD };
  const readPair = (): CredentialPair => ({ username: 'player', ...secret });
  const workers: CountingWorker[] = [];
  return {
    world,
    service,
    secret,
    start: async () => {
      const path = join(folder, 'leagues.db');
      const worker = await startWorker(world, service, { path, everyMs, profileEveryMs, random, readPair });
      workers.push(worker);
      return worker;
    },
    count: (kind) => service.times(kind).length,
    dead: () => service.seen.filter(({ dead }) => dead).length,
    goodPolls: () =>
      workers
        .flatMap(({ ended }) => ended)
        .filter(({ report }) => report.kind === 'leagues' && report.error === undefined)
        .map(({ at }) => at),
    [Symbol.asyncDispose]: async () => {
      for (const worker of workers) await worker.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
