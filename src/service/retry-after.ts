import { RetryAfterError } from '../errors.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';
import { parseHttpDate, type ResponseHead, serverTime } from './response.ts';
import type { Transport } from './service.ts';

/** The time during which the service asked not to be called. */
export type RetryAfter = ReturnType<typeof createRetryAfter>;

/** Limits excessive values from the service, and a stored `Retry-After` that a clock step has made longer. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** What is left (ms) of a stored `Retry-After`: at most its original length, even if the clock was set back. */
export function remainingMs(stored: { readonly until: string; readonly askedAt: string } | undefined, now: number) {
  if (stored === undefined) return 0;
  const [until, askedAt] = [Date.parse(stored.until), Date.parse(stored.askedAt)];
  return Math.max(0, Math.min(until - now, until - askedAt));
}

/** An extendable wait of `initialMs`. Steps of the wall clock do not change it. `onExtend` gets each later end (ms). */
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

/** Rejects each request during a `Retry-After` with a RetryAfterError, and reads that header from each response. */
export function withRetryAfter(transport: Transport, retryAfter: RetryAfter, clock: Clock): Transport {
  return async (request, signal) => {
    const until = retryAfter.until();
    if (until > 0) {
      const message = `The service asked not to be called before ${formatTimestamp(until)} (Retry-After); nothing is sent until then.`;
      throw new RetryAfterError(true, message, { notBefore: until });
    }
    let notBefore: number | undefined;
    const onHead = (head: ResponseHead): void => {
      notBefore = readRetryAfter(head, clock.now());
      // Takes effect before the body arrives, except for a 2xx: only the body tells whether a 2xx is a failure.
      if (notBefore !== undefined && head.status >= 300) retryAfter.extend(notBefore);
    };
    try {
      return { ...(await transport({ ...request, onHead }, signal)), notBefore };
    } catch (error) {
      // A 2xx whose body is incomplete is a failure, too.
      if (notBefore !== undefined) retryAfter.extend(notBefore);
      throw error;
    }
  };
}

/** When (ms, local clock) the wait that `Retry-After` asks for ends, capped at 24 h; undefined if none is readable. */
export function readRetryAfter(head: ResponseHead, now: number): number | undefined {
  const serverNow = serverTime(head) ?? now;
  // The values of a repeated header are joined by commas. The comma after the weekday of a date is not a separator.
  const values = (head.header('retry-after') ?? '').split(/(?<!\b[A-Z][a-z]{2}|day),/).map((value) => value.trim());
  const waits = values
    .map((value) => (/^\d+$/.test(value) ? Number(value) * 1_000 : (parseHttpDate(value) ?? Number.NaN) - serverNow))
    .filter((waitMs) => waitMs >= 0);
  return waits.length === 0 ? undefined : now + Math.min(Math.max(...waits), MAX_RETRY_AFTER_MS);
}
