import { readFileSync, statSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as rest } from 'node:timers/promises';
import type { Random } from '../../src/simulator/churn.ts';
import { copierOf } from './copy-process.ts';
import type { VersionedService } from './kill-version.ts';
import type { RunningProgram } from './program.ts';

/** What a kill is aimed at; chance decides how far from there it comes. */
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
  /** How many requests the service had seen before it. */
  readonly earlier: number;
  readonly service: VersionedService;
  readonly database: string;
};

/** How long things take here, as far as was seen. */
export type Timings = { startMs: number; applyMs: number; copyMs: number };

/** Kills come at random within this much after what they wait for, where there is no better measure. */
const MOMENT_MS = 30;
/** What has not come until then is killed all the same: a checkpoint, for one, need not come. */
const LONGEST_WAIT_MS = 4_000;

/** Waits until the target is about at that moment. Returns early if it has ended. */
export async function reach(moment: Moment, target: KillTarget, timings: Timings, random: Random): Promise<void> {
  const { program, service, database, earlier } = target;
  const within = (ms: number): Promise<void> => rest(random() * ms);
  const until = (probe: () => boolean): Promise<void> => waitFor(() => !program.alive() || probe());
  const leagues = () => service.seen.slice(earlier).filter(({ endpoint }) => endpoint === 'leagues');
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

/** What is written in one go is over in a few milliseconds, and the shortest rest takes one of them. */
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
  // Its process id is not reused until its parent has reaped it.
  if (copier !== undefined && copierIn(program) === copier) process.kill(copier, 'SIGKILL');
}

function copierIn({ pid, alive }: RunningProgram): number | undefined {
  try {
    return alive() ? copierOf(pid) : undefined;
  } catch {
    return undefined;
  }
}

function isReported({ program }: KillTarget): boolean {
  return program.log().some(({ kind, outcome }) => kind === 'leagues' && outcome === 'changed');
}

/** Tells whether the file is another than at the time of this call. */
function changeOf(file: string): () => boolean {
  const read = (): unknown => statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
  const before = read();
  return () => read() !== before;
}

async function waitFor(probe: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + LONGEST_WAIT_MS;
  while (!probe() && performance.now() < giveUpAt) await nextTurn();
}

/** Holds a process where it is, so that it can be looked at before it is killed. Not waited for where it is dying. */
export async function freeze({ pid, send }: RunningProgram): Promise<void> {
  send('SIGSTOP');
  await waitFor(() => /^[TtZX]?$/.test(stateOf(pid)));
}

/** A letter, as the kernel has it; nothing where there is no such process, or no way to ask. */
function stateOf(pid: number): string {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1] ?? '';
  } catch {
    return '';
  }
}
