import { statSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as rest } from 'node:timers/promises';
import type { Random } from '../../../src/simulator/churn.ts';
import { copierOf } from '../../support/copy-process.ts';
import type { RunningProgram } from '../../support/program.ts';
import type { VersionedService } from './version.ts';

/** The moments that kills aim at, with a random delay. */
export const MOMENTS = [
  'start',
  'request',
  'transaction',
  'commit',
  'checkpoint',
  'report',
  'stop',
  'publish',
  'copier',
] as const;
export type Moment = (typeof MOMENTS)[number];

/** The program to kill. */
export type KillTarget = {
  readonly program: RunningProgram;
  readonly command: 'run' | 'sync';
  /** The number of requests before this program. */
  readonly earlier: number;
  readonly service: VersionedService;
  readonly database: string;
};

/** Durations measured on this machine. */
export type Timings = { startMs: number; applyMs: number; copyMs: number };

/** The maximum random delay of a kill if there is no measured duration. */
const MOMENT_MS = 30;
/** The maximum wait for a moment, some of which may never come, such as a checkpoint; then the kill happens anyway. */
const LONGEST_WAIT_MS = 4_000;

/** Waits until the target is about at that moment. Returns early if it has ended. */
export async function reach(moment: Moment, target: KillTarget, timings: Timings, random: Random): Promise<void> {
  const { program, service, database, earlier } = target;
  const within = (ms: number): Promise<void> => rest(random() * ms);
  const until = (probe: () => boolean): Promise<void> => waitFor(() => !program.alive() || probe());
  const leagues = () => service.requests.slice(earlier).filter(({ kind }) => kind === 'leagues');
  const answered = (): Promise<void> => until(() => leagues().some(({ endedAt }) => Number.isFinite(endedAt)));
  switch (moment) {
    case 'start':
      return within(timings.startMs);
    case 'request':
      await until(() => leagues().length > 0);
      return within(MOMENT_MS);
    case 'transaction':
      await answered();
      return within(timings.applyMs);
    case 'commit':
      await answered();
      await until(changeOf(`${database}-wal`));
      return atOnceOr(() => within(MOMENT_MS / 3), random);
    case 'checkpoint':
      await answered();
      await until(changeOf(database));
      return atOnceOr(() => within(MOMENT_MS / 3), random);
    case 'report':
      await until(() => isReported(target));
      return within(MOMENT_MS);
    case 'stop':
      await answered();
      await within(timings.applyMs * 2);
      program.send('SIGTERM');
      return within(timings.applyMs);
    case 'publish':
      await until(() => copierIn(program) !== undefined);
      return within(timings.copyMs);
    case 'copier':
      return killCopier(program, until, () => within(timings.copyMs));
  }
}

/** Waits very briefly, or not at all: a single write takes a few milliseconds, and the shortest sleep one of them. */
async function atOnceOr(pause: () => Promise<void>, random: Random): Promise<void> {
  if (random() < 0.5) await pause();
}

async function killCopier(
  program: RunningProgram,
  until: (probe: () => boolean) => Promise<void>,
  pause: () => Promise<void>,
): Promise<void> {
  await until(() => copierIn(program) !== undefined);
  const copier = copierIn(program);
  await pause();
  // The pid is not reused until the parent has reaped the process.
  if (copier !== undefined && copierIn(program) === copier) process.kill(copier, 'SIGKILL');
}

/** The process that copies for this program. */
export function copierIn({ pid, alive }: RunningProgram): number | undefined {
  try {
    return alive() ? copierOf(pid) : undefined;
  } catch {
    return undefined;
  }
}

function isReported({ program }: KillTarget): boolean {
  return program.log().some(({ kind, outcome }) => kind === 'leagues' && outcome === 'changed');
}

/** Returns whether the file has changed since this call. */
function changeOf(file: string): () => boolean {
  const read = (): unknown => statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
  const before = read();
  return () => read() !== before;
}

async function waitFor(probe: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + LONGEST_WAIT_MS;
  while (!probe() && performance.now() < giveUpAt) await nextTurn();
}
