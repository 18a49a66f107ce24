import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { tryOrUndefined } from '../try-or-undefined.ts';

/** The clock is injected, so that tests can control time. All values are milliseconds. */
export type Clock = {
  /** The wall clock, which may step in either direction. */
  readonly now: () => number;
  /** Unaffected by steps of the wall clock. Includes the time during which the machine was suspended. */
  readonly monotonic: () => number;
  /** At most 24 days, the longest delay of a timer. Rejects with the signal's reason as soon as the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The uptime may get ahead of `performance.now()` by this much through rounding: some systems report whole seconds. */
const ROUNDING_MS = 2_000;

/** `performance.now()` stops while the machine is suspended. The uptime, if readable, includes that time. */
export function createMonotonic(readUptimeMs = (): number => uptime() * 1_000): () => number {
  const sinceBoot = (): number => (tryOrUndefined(readUptimeMs) ?? Number.NaN) - performance.now();
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
    try {
      if (ms > 0) await setTimeout(ms, undefined, signal && { signal });
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

/** Work repeated after sleeps. `wake` ends the sleep, or if there is none the next one at once, so that no call is lost. */
export function createWakeableLoop(clock: Clock) {
  let woken = new AbortController();
  /** Never rejects. */
  const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (ms > 0) await clock.sleep(ms, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
    if (woken.signal.aborted) woken = new AbortController();
  };
  return {
    // With a reason, since without one each call would make an error and its stack.
    wake: (): void => woken.abort('woken'),
    /** Sleeps `waitMs`, then calls `work` and sleeps as long as that says, until it is over. `stop` ends the sleep. */
    repeat: async (
      waitMs: number,
      work: () => Promise<number>,
      stop: AbortSignal,
      isOver = (): boolean => stop.aborted,
    ): Promise<void> => {
      for (let leftMs = waitMs; ; leftMs = await work()) {
        await sleep(leftMs, stop);
        if (isOver()) return;
      }
    },
  };
}

/** The delay (ms) after a number of failures in a row: `initialMs`, doubled with each further failure up to `maxMs`. */
export function exponentialDelayMs(failures: number, initialMs: number, maxMs: number): number {
  return Math.min(maxMs, initialMs * 2 ** Math.max(0, failures - 1));
}

/** Years outside 0 to 9999 have six digits and a sign in ISO 8601, so such timestamps would sort wrongly as text. */
const FIRST_TIMESTAMP_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_TIMESTAMP_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** The form in which timestamps are stored and shown: ISO 8601, UTC, milliseconds. */
export function formatTimestamp(ms: number): string {
  return new Date(Math.min(Math.max(ms, FIRST_TIMESTAMP_MS), LAST_TIMESTAMP_MS)).toISOString();
}

/** A timestamp without milliseconds, for use in sentences: `2026-11-22T19:52:10Z`. */
export function formatSecond(ms: number): string {
  return `${formatTimestamp(ms).slice(0, -'.000Z'.length)}Z`;
}

/** Such as `18:43:15 UTC`; begins with the date unless `at` is today. */
export function timeOfDay(at: number, now: number): string {
  const [day, time] = [formatTimestamp(at).slice(0, 10), formatTimestamp(at).slice(11, 19)];
  return formatTimestamp(now).startsWith(day) ? `${time} UTC` : `${day} ${time} UTC`;
}

const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s?(?:[Zz]|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?$/;

/** ISO 8601 as ms since 1970, by default UTC; undefined for other text. Seconds are optional, `T` may be a space. */
export function parseTimestamp(text: string): number | undefined {
  const match = TIMESTAMP.exec(text.trim());
  if (match === null) return undefined;
  const [, date, time, second = '00', fraction = '', sign, hours = '0', minutes = '0'] = match;
  const local = `${date}T${time}:${second}`;
  const ms = Date.parse(`${local}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
  // Date.parse accepts 31 November (as 1 December) and 24:00 (as 00:00 of the next day).
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(local)) return undefined;
  return ms - (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
}
