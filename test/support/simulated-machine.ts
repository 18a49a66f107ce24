import type { Clock } from '../../src/time/clock.ts';
import { createTestClock } from './clock.ts';

/** True time, which nothing on the worker's machine can change, and the machine's clocks, which may be wrong. */
export type World = {
  /** The clocks of the worker's machine. */
  readonly clock: Clock;
  /** True time since the beginning, in ms. */
  readonly elapsed: () => number;
  /** True time as a timestamp, in ms. */
  readonly now: () => number;
  /** Lets true time pass, with everything that happens meanwhile. */
  readonly advance: (ms: number) => Promise<void>;
  /** Sets the machine's wall clock wrong, or right again. No time passes. */
  readonly stepWall: (ms: number) => void;
  /** Lets true time pass while nothing on the machine runs; only the clocks that are named know of it afterwards. */
  readonly suspend: (ms: number, ...knowing: readonly ('wall' | 'monotonic')[]) => void;
};

/** In the middle of an interval and of a second, so that nothing coincides by chance. */
const BEGINNING = Date.parse('2026-11-20T12:02:03.456Z');

/** A poll gives way to others a few times. */
const TURNS = 10;

export function createWorld(): World {
  const machine = createTestClock(BEGINNING, TURNS);
  const begun = machine.monotonic();
  let suspended = 0;
  let leapt = 0;
  const elapsed = (): number => machine.monotonic() - begun + suspended;
  // As timers do: whole milliseconds, and never none.
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

/** Chance that is the same every time. */
export function createRandomSource(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
