import type { Clock } from '../../../src/time/clock.ts';
import { createTestClock } from '../../support/clock.ts';

/** True time, and the clocks of the worker's machine, which may be wrong. */
export type World = {
  /** The clocks of the worker's machine. */
  readonly clock: Clock;
  /** True time since the start, in ms. */
  readonly elapsed: () => number;
  /** True time as a timestamp, in ms. */
  readonly now: () => number;
  /** Advances true time, and runs everything that is due until then. */
  readonly advance: (ms: number) => Promise<void>;
  /** Steps the wall clock of the machine. No time passes. */
  readonly stepWall: (ms: number) => void;
  /** Advances true time while the machine is suspended; only the named clocks include that time afterwards. */
  readonly suspend: (ms: number, ...knowing: readonly ('wall' | 'monotonic')[]) => void;
};

/** In the middle of an interval and of a second, to avoid coincidences. */
const BEGINNING = Date.parse('2026-11-20T12:02:03.456Z');

/** The turns of the event loop that a poll takes between two clock steps. */
const TURNS = 10;

export function createWorld(): World {
  const machine = createTestClock(BEGINNING, TURNS);
  const begun = machine.monotonic();
  let suspended = 0;
  let leapt = 0;
  const elapsed = (): number => machine.monotonic() - begun + suspended;
  // Like timers: whole milliseconds, at least one.
  const sleep: Clock['sleep'] = (ms, signal) => machine.sleep(Math.max(1, Math.trunc(ms)), signal);
  return {
    clock: { now: machine.now, monotonic: () => machine.monotonic() + leapt, sleep },
    elapsed,
    now: () => BEGINNING + elapsed(),
    advance: machine.advance,
    stepWall: machine.step,
    suspend: (ms, ...knowing) => {
      suspended += ms;
      if (knowing.includes('wall')) machine.step(ms);
      if (knowing.includes('monotonic')) leapt += ms;
    },
  };
}

/** Random numbers from a seed. */
export function createRandomSource(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
