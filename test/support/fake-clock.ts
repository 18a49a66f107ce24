import { execFileSync } from 'node:child_process';
import { globSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Bench } from './bench.ts';
import { type Environment, eventually, type RunningProgram } from './program.ts';

/** How far the wall clock is off (without a unit, in seconds), or where it stands, as libfaketime writes it. */
export type Offset = '+2h' | '-2h' | '+0' | '+365d' | '@1970-01-01 00:01:00' | `${'+' | '-'}${number}`;

export const TWO_HOURS_MS = 7_200_000;

/** A wall clock that is wrong for the programs that run under it; the monotonic clock stays true, as when a clock is set. */
export type FakeClock = {
  readonly env: Environment;
  /** Sets the wall clock of those who run under it already, too. */
  readonly set: (offset: Offset) => void;
};

/** Debian's package libfaketime; the folder is named by the processor. */
const LIBRARY = '/usr/lib/*/faketime/libfaketime.so.1';

/** Why no clock can be faked here; undefined if one can. */
export function missingFaketime(): string | undefined {
  const env = { ...preload(), FAKETIME: '+2h' };
  try {
    const told = execFileSync(process.execPath, ['-p', 'Date.now()'], { env, encoding: 'utf8', stdio: 'pipe' });
    if (Number(told) - Date.now() > TWO_HOURS_MS / 2) return undefined;
  } catch {
    // Said below.
  }
  return 'libfaketime is not here, or does not work';
}

/** The offset that makes it this time (ms) now. */
export function offsetTo(instant: number): Offset {
  const seconds = Number(((instant - Date.now()) / 1_000).toFixed(3));
  return seconds < 0 ? `-${-seconds}` : `+${seconds}`;
}

/** A clock that reads its offset from a file of this folder. */
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
    // What the library leaves of a process that is killed would trouble a later one of the same number.
    for (const left of globSync(`/dev/shm/*faketime_*_${worker.pid}`)) rmSync(left, { force: true });
  });
  return worker;
}

/** Lets true time pass, for what must not happen in it. */
export async function watchFor(ms: number): Promise<void> {
  const end = performance.now() + ms;
  await eventually('the time to watch is over', () => performance.now() >= end, 2 * ms);
}
