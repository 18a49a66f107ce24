import { type Clock, formatInstant } from '../clock.ts';
import { RetryAfterError } from '../errors.ts';
import { type HttpResponse, parseHttpDate, type ResponseHead, serverClock } from './response.ts';
import type { Transport } from './service.ts';

/** The time for which the service asked not to be sent anything (`Retry-After`). */
export type RetryAfter = {
  /** Instant (ms) at which it ends; 0 if there is none. */
  readonly until: () => number;
  readonly extend: (until: number) => void;
};

/** One as it was written down: its end, and when it was on at the latest (ISO 8601). */
type Recorded = { readonly until: string; readonly askedAt: string };

/** No service may silence the worker for longer, nor may a clock that has stepped back since. */
const LONGEST_MS = 24 * 3_600_000;

/** How much (ms) of a recorded one is left; not more than it was long, should the clock have been set back since. */
export function remainingMs(recorded: Recorded | undefined, now: number): number {
  if (recorded === undefined) return 0;
  const [until, askedAt] = [Date.parse(recorded.until), Date.parse(recorded.askedAt)];
  return Math.max(0, Math.min(until - now, until - askedAt));
}

/**
 * Lasts for `leftMs` from now, and for what the service asks for later; the wall clock may step meanwhile. `onExtend` is
 * called for every such request, so that it outlives the process.
 */
export function createRetryAfter(
  clock: Clock,
  leftMs = 0,
  onExtend: (until: number) => void = () => undefined,
): RetryAfter {
  /** On the monotonic clock, in ms. */
  let endsAt = clock.monotonic() + Math.min(leftMs, LONGEST_MS);
  const msLeft = (): number => endsAt - clock.monotonic();
  return {
    until: () => (msLeft() > 0 ? clock.now() + msLeft() : 0),
    extend: (until) => {
      const wantedMs = Math.min(until - clock.now(), LONGEST_MS);
      if (wantedMs <= msLeft()) return;
      endsAt = clock.monotonic() + wantedMs;
      onExtend(until);
    },
  };
}

/**
 * A transport that sends nothing before the instant that the service's last `Retry-After` named. Until then it rejects
 * with a RetryAfterError that says when.
 */
export function withRetryAfter(transport: Transport, retryAfter: RetryAfter, clock: Clock): Transport {
  return async (request, signal) => {
    const until = retryAfter.until();
    if (until > 0) {
      const message = `The service asked not to be called before ${formatInstant(until)} (Retry-After); nothing is sent until then.`;
      throw new RetryAfterError(message, until);
    }
    let notBefore: number | undefined;
    const onHead = (head: ResponseHead): void => {
      notBefore = readRetryAfter(head, clock.now());
      // At once, since the body of a failure may be long in coming; that of a success has to be read first.
      if (notBefore !== undefined && head.status >= 300) retryAfter.extend(notBefore);
    };
    try {
      const response: HttpResponse = await transport({ ...request, onHead }, signal);
      return { ...response, notBefore };
    } catch (error) {
      // A success that does not come whole is none, either.
      if (notBefore !== undefined) retryAfter.extend(notBefore);
      throw error;
    }
  };
}

/** The instant (ms, local clock) that a `Retry-After` names, the latest of several; undefined if none can be read. */
export function readRetryAfter(head: ResponseHead, now: number): number | undefined {
  const clock = serverClock(head) ?? now;
  const waits = (head.header('retry-after') ?? '').split('\n').flatMap((text) => readWaitMs(text.trim(), clock) ?? []);
  const waitMs = Math.max(...waits);
  return waitMs < 0 ? undefined : now + Math.min(waitMs, LONGEST_MS);
}

const SECONDS = /^\d+(?:\s*,\s*\d+)*$/;

function readWaitMs(text: string, clock: number): number | undefined {
  if (SECONDS.test(text)) return Math.max(...text.split(',').map(Number)) * 1_000;
  const date = parseHttpDate(text);
  return date === undefined ? undefined : date - clock;
}
