import type { Clock } from '../time/clock.ts';
import { parseHttpDate, type ResponseHead, serverTime } from './response.ts';

export type RetryAfter = ReturnType<typeof createRetryAfter>;

/** Limits excessive values from the service, and stored waits that a clock step has made longer. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** What is left (ms) of a stored `Retry-After`: at most `until` - `askedAt`, unless the clock was set back between. */
export function remainingMs(stored: { readonly until: string; readonly askedAt: string } | undefined, now: number) {
  if (stored === undefined) return 0;
  const [until, askedAt] = [Date.parse(stored.until), Date.parse(stored.askedAt)];
  const wholeMs = until > askedAt ? until - askedAt : MAX_RETRY_AFTER_MS;
  return Math.max(0, Math.min(until - now, wholeMs));
}

/** A wait that can be extended, by the monotonic clock. `onExtend` gets each new end (ms, wall clock). */
export function createRetryAfter(clock: Clock, initialMs = 0, onExtend = (_until: number): void => undefined) {
  /** The end of the wait on the monotonic clock, in ms. */
  let endsAt = clock.monotonic() + Math.min(initialMs, MAX_RETRY_AFTER_MS);
  const msLeft = (): number => endsAt - clock.monotonic();
  return {
    /** Timestamp (ms) of the end of the wait; 0 if there is no wait. */
    until: (): number => (msLeft() > 0 ? clock.now() + msLeft() : 0),
    extend: (until: number): void => {
      const wantedMs = Math.min(until - clock.now(), MAX_RETRY_AFTER_MS);
      if (wantedMs <= msLeft()) return;
      endsAt = clock.monotonic() + wantedMs;
      onExtend(until);
    },
  };
}

/** The end (ms, local clock) of the wait that `Retry-After` asks for, at most 24 h; undefined if it asks for none. */
export function readRetryAfter(head: ResponseHead, now: number): number | undefined {
  const serverNow = serverTime(head) ?? now;
  // The values of a repeated header are joined by commas. The comma after the weekday of a date is not a separator.
  const values = (head.header('retry-after') ?? '').split(/(?<!\b[A-Z][a-z]{2}|day),/).map((value) => value.trim());
  const waits = values
    .map((value) => (/^\d+$/.test(value) ? Number(value) * 1_000 : (parseHttpDate(value) ?? Number.NaN) - serverNow))
    .filter((waitMs) => waitMs >= 0);
  return waits.length === 0 ? undefined : now + Math.min(Math.max(...waits), MAX_RETRY_AFTER_MS);
}
