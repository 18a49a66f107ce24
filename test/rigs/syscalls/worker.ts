import { expect } from 'vitest';
import { readRows } from '../../support/database.ts';
import { makeFolder } from '../../support/folder.ts';
import type { RunningProgram } from '../../support/program.ts';
import { type Place, type SyscallBench, stateOf } from './bench.ts';
import { expectDocumentedEnd, expectSound } from './check.ts';
import { type Call, counting, countsIn, describeInjection, failing, type Injection } from './syscall.ts';

/** More polls than a few failures can affect. */
const MOST_POLLS = 20;

/** The number of calls of each kind of an undisturbed worker, from start to stop. */
export async function countWorkerCalls({ place }: SyscallBench): Promise<ReadonlyMap<Call, number>> {
  const { launch, database } = place();
  const { path: folder } = makeFolder();
  const worker = launch('run', counting(database, folder));
  expect(await pollUntilChanged(worker)).toBe('changed');
  expect((await worker.stop()).code).toBe(0);
  return countsIn(folder);
}

/**
 * Runs a worker with failing calls, and requests polls until it has the new list. Returns the number of failed polls,
 * or undefined if it could not start, which it must have reported.
 */
export async function outlast(bench: SyscallBench, injection: Injection): Promise<number | undefined> {
  const where = describeInjection(injection);
  const place = bench.place();
  const worker = place.launch('run', failing(place.database, injection));
  const outcome = await pollUntilChanged(worker);
  if (outcome === 'ended') {
    const exit = await worker.waitForExit();
    expect(exit.code, where).toBe(74);
    expectDocumentedEnd(place, exit, where);
    expect((await place.run('sync')).code, where).toBe(0);
    expectAfter(bench, place, where);
    return undefined;
  }
  expect(outcome, where).toBe('changed');
  expect(worker.alive(), where).toBe(true);
  expect(stateOf(place.database), where).toBe(bench.after);
  const { code, stderr } = await worker.stop();
  expect([code, stderr], where).toEqual([0, '']);
  // If the calls failed during the stop, this cleans up.
  expect((await place.run('sync')).code, where).toBe(0);
  expectAfter(bench, place, where);
  return worker.log().filter((line) => line.kind === 'leagues' && line.outcome === 'failed').length;
}

async function pollUntilChanged(worker: RunningProgram): Promise<'changed' | 'failed' | 'ended'> {
  try {
    await worker.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
  } catch {
    return 'ended';
  }
  for (let polls = 0; polls < MOST_POLLS; polls += 1) {
    worker.send('SIGHUP');
    if ((await worker.waitForPoll()).outcome === 'changed') return 'changed';
  }
  return 'failed';
}

/** Expects that failed runs have an error, and that no run is unfinished. */
function expectAfter(bench: SyscallBench, place: Place, where: string): void {
  const { database } = place;
  expect(stateOf(database), where).toBe(bench.after);
  expectSound(place, where);
  const runs = readRows(database, `SELECT outcome, error_kind FROM runs WHERE id > ${bench.lastRun} ORDER BY id`);
  const failed = runs.filter(({ outcome }) => outcome !== 'changed' && outcome !== 'unchanged');
  for (const run of failed) expect(run, where).toEqual({ outcome: 'failed', error_kind: 'database' });
  expect(runs.filter(({ outcome }) => outcome === 'changed').length, where).toBe(1);
}
