import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

/** Time as the program sees it; tests move it by hand. All values are milliseconds. */
export type Clock = {
  /** The wall clock: may step either way. */
  readonly now: () => number;
  /** Never steps, whatever the wall clock does, and counts the time for which the machine was suspended. */
  readonly monotonic: () => number;
  /** Waits; rejects with the signal's reason as soon as it aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** Timers take a signed 32-bit count; anything longer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The two count from different beginnings, and round differently. */
const ROUNDING_MS = 2_000;

/**
 * The process's own clock stands still while the machine is suspended, and that of the machine's uptime does not. Where
 * the latter cannot be read, suspensions are not counted.
 */
export function createMonotonic(readUptimeMs = (): number => uptime() * 1_000): () => number {
  const sinceBoot = (): number => {
    try {
      return readUptimeMs() - performance.now();
    } catch {
      return Number.NaN;
    }
  };
  const begun = sinceBoot();
  let suspendedMs = 0;
  return () => {
    const aheadMs = sinceBoot() - begun;
    if (aheadMs > suspendedMs + ROUNDING_MS) suspendedMs = aheadMs;
    return performance.now() + suspendedMs;
  };
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: createMonotonic(),
  sleep: async (ms, signal) => {
    let left = ms;
    while (left > 0) {
      const step = Math.min(left, LONGEST_TIMER_MS);
      await wait(step, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
        throw signal?.aborted ? signal.reason : error;
      });
      left -= step;
    }
    signal?.throwIfAborted();
  },
};

/** Years of four digits: a longer one would neither fit the form nor sort. */
const FIRST_INSTANT_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_INSTANT_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** The one form in which instants are stored and shown: ISO 8601, UTC, milliseconds. */
export function formatInstant(ms: number): string {
  return new Date(Math.min(Math.max(ms, FIRST_INSTANT_MS), LAST_INSTANT_MS)).toISOString();
}

/** The same for sentences, where milliseconds only make it longer: `2026-11-22T19:52:10Z`. */
export function formatSecond(ms: number): string {
  return `${formatInstant(ms).slice(0, -'.000Z'.length)}Z`;
}
