import type { Clock } from '../clock.ts';

/** Waits after failures in a row, each twice as long as the one before. */
export type Backoff = {
  /** Begins the next wait; it is at least `leastMs` long. */
  readonly fail: (leastMs?: number) => void;
  /** Time until the wait is over; 0 if there is none. */
  readonly leftMs: () => number;
  /** When (ms, wall clock) the wait is over: the same each time, unless the clock was set meanwhile. */
  readonly until: () => number;
  /** Ends the wait; the next one is as long as it would have been. */
  readonly skip: () => void;
};

export type BackoffOptions = {
  readonly clock: Clock;
  readonly firstMs: number;
  readonly longestMs: number;
  /** Chance, 0 to 1, takes up to half of each wait, so that clients that failed together do not come back together. */
  readonly random?: () => number;
};

/** Less is the rounding of two clocks. */
const CLOCK_STEP_MS = 1_000;

export function createBackoff({ clock, firstMs, longestMs, random = () => 1 }: BackoffOptions): Backoff {
  let failures = 0;
  /** On the monotonic clock, in ms. */
  let endsAt = Number.NEGATIVE_INFINITY;
  /** On the wall clock as it was when the wait began. */
  let until = Number.NEGATIVE_INFINITY;
  const leftMs = (): number => Math.max(0, endsAt - clock.monotonic());
  return {
    fail: (leastMs = 0) => {
      failures += 1;
      const waitMs = Math.max((0.5 + random() / 2) * doubledMs(failures, firstMs, longestMs), leastMs);
      endsAt = clock.monotonic() + waitMs;
      until = clock.now() + waitMs;
    },
    leftMs,
    until: () => {
      const now = clock.now() + leftMs();
      return Math.abs(now - until) < CLOCK_STEP_MS ? until : now;
    },
    skip: () => {
      endsAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** The wait after so many failures: `firstMs`, doubling up to `longestMs`. */
export function doubledMs(failures: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
}
