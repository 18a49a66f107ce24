import { execFileSync } from 'node:child_process';
import { globSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Bench } from '../support/bench.ts';
import type { Environment, RunningProgram } from '../support/program.ts';

/** The offset of the wall clock in seconds, in the syntax of libfaketime. */
type Offset = `${'+' | '-'}${number}`;

const TWO_HOURS_MS = 7_200_000;

/** A fake wall clock for child processes; the monotonic clock stays true, as after a clock step. */
export type FakeClock = {
  readonly env: Environment;
  /** Sets the wall clock, also of processes that are running. */
  readonly set: (offset: Offset) => void;
};

/** Debian's package libfaketime; the folder is named by the processor. */
const LIBRARY = '/usr/lib/*/faketime/libfaketime.so.1';

/** Why the clock cannot be faked here; undefined if it can. */
export function missingFaketime(): string | undefined {
  const env = { ...preload(), FAKETIME: '+7200' };
  try {
    const told = execFileSync(process.execPath, ['-p', 'Date.now()'], { env, encoding: 'utf8', stdio: 'pipe' });
    if (Number(told) - Date.now() > TWO_HOURS_MS / 2) return undefined;
  } catch {
    // Reported below.
  }
  return 'libfaketime is not here, or does not work';
}

/** The offset that makes it this time (ms) now. */
export function offsetTo(instant: number): Offset {
  const seconds = Number(((instant - Date.now()) / 1_000).toFixed(3));
  return seconds < 0 ? `-${-seconds}` : `+${seconds}`;
}

/** Creates a clock that reads its offset from a file in this folder. */
export function makeFakeClock(folder: string, offset: Offset): FakeClock {
  const file = join(folder, 'clock');
  const set = (next: Offset): void => {
    // Written atomically: a reader of half of it would see the true time.
    writeFileSync(`${file}.new`, `${next}\n`);
    renameSync(`${file}.new`, file);
  };
  set(offset);
  return { env: { ...preload(), FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1' }, set };
}

function preload(): Environment {
  const [library = ''] = globSync(LIBRARY);
  return { LD_PRELOAD: library, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

/** Starts the worker of the bench under this clock. */
export function runUnder(clock: FakeClock, bench: Bench, env: Environment = {}): RunningProgram {
  const worker = bench.start(['run'], { ...clock.env, ...env });
  onTestFinished(() => {
    // Removes the shared memory that libfaketime leaves of a killed process: it would affect a later process with the
    // same pid.
    for (const left of globSync(`/dev/shm/*faketime_*_${worker.pid}`)) rmSync(left, { force: true });
  });
  return worker;
}
