import type { Clock } from '../../src/time/clock.ts';

/** A wait this long is the time limit of a run, which no answer of the year's service reaches. */
const TIME_LIMIT_MS = 120_000;

/** A simulated clock: `sleep` returns at once and advances the time. A time limit never ends. */
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
    sleep: async (ms, signal) => {
      if (ms < TIME_LIMIT_MS) advance(ms);
      else await new Promise((_, reject) => signal?.addEventListener('abort', reject, { once: true }));
    },
    advance,
    advanceTo: (instant) => advance(instant - at),
  };
}
