import type { Clock } from '../../src/time/clock.ts';

/** A simulated clock: `sleep` returns at once and advances the time. */
export type HandClock = Clock & {
  readonly advance: (ms: number) => void;
  /** Advances to the timestamp (ms), unless it is already past. */
  readonly advanceTo: (at: number) => void;
};

export function createHandClock(beginsAt: number): HandClock {
  let at = beginsAt;
  const advance = (ms: number): void => {
    at += Math.max(0, ms);
  };
  return {
    now: () => at,
    monotonic: () => at - beginsAt,
    sleep: async (ms) => advance(ms),
    advance,
    advanceTo: (instant) => advance(instant - at),
  };
}
