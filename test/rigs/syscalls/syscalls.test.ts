import { beforeEach, describe, expect, it } from 'vitest';
import { readRows } from '../../support/database.ts';
import type { RunningProgram } from '../../support/program.ts';
import { type Place, type SyscallBench, setUpSyscalls, stateOf } from './bench.ts';
import { expectDocumentedEnd, expectSound } from './check.ts';
import { describeInjection, failing, type Injection, missingStrace } from './syscall.ts';

beforeEach(({ skip }) => {
  const missing = missingStrace();
  skip(missing !== undefined, missing);
});

describe('a sync that is done, but cannot remove its lock file,', () => {
  it('exits 0 all the same', async () => {
    const { place } = await setUpSyscalls('the old list');
    const { database, run } = place();
    // The first call is for the journal of the lock file.
    const removal: Injection = { call: 'unlink', error: 'EIO', nth: 2, upTo: 'once' };
    const { code, stderr } = await run('sync', failing(`${database}.lock`, removal));
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(0);
  });
});

describe('a worker whose calls to the disk fail for a while', () => {
  it('is not restarted, and catches up', async () => {
    const bench = await setUpSyscalls('the old list');
    const failed = await outlast(bench, { call: 'pwrite64', error: 'EROFS', nth: 60, upTo: 3 });
    expect(failed).toBeGreaterThan(0);
  });
});

/** More polls than a few failures can affect. */
const MOST_POLLS = 20;

/**
 * Runs a worker with failing calls, and requests polls until it has the new list. Returns the number of failed polls,
 * or undefined if it could not start, which it must have reported.
 */
async function outlast(bench: SyscallBench, injection: Injection): Promise<number | undefined> {
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
