import { type Clock, formatInstant } from '../clock.ts';
import { PausedError } from '../errors.ts';
import { type Head, LONGEST_PAUSE_MS, readRetryAfter } from './answer.ts';
import type { Transport } from './transport.ts';

/** The time for which the service asked not to be sent anything (`Retry-After`). */
export type Pause = {
  /** Instant (ms) at which it ends; 0 where there is none. */
  readonly until: () => number;
  readonly extend: (until: number) => void;
};

/** A pause as it was written down: its end, and when it was on at the latest (ISO 8601). */
type Recorded = { readonly until: string; readonly askedAt: string };

/** How much (ms) of a recorded pause is left; not more than it was long, should the clock have been set back since. */
export function msLeftOf(pause: Recorded | undefined, now: number): number {
  if (pause === undefined) return 0;
  const [until, askedAt] = [Date.parse(pause.until), Date.parse(pause.askedAt)];
  return Math.max(0, Math.min(until - now, until - askedAt));
}

/**
 * Lasts for `leftMs` from now, and for what the service asks for later; the wall clock may step meanwhile. `onExtend` is
 * told of every such wish, so that it outlives the process.
 */
export function createPause(clock: Clock, leftMs = 0, onExtend: (until: number) => void = () => undefined): Pause {
  /** On the monotonic clock, in ms. */
  let endsAt = clock.monotonic() + Math.min(leftMs, LONGEST_PAUSE_MS);
  const msLeft = (): number => endsAt - clock.monotonic();
  return {
    until: () => (msLeft() > 0 ? clock.now() + msLeft() : 0),
    extend: (until) => {
      const wantedMs = Math.min(until - clock.now(), LONGEST_PAUSE_MS);
      if (wantedMs <= msLeft()) return;
      endsAt = clock.monotonic() + wantedMs;
      onExtend(until);
    },
  };
}

/**
 * A transport that sends nothing before the instant that the service's last `Retry-After` named, whoever asks. Until
 * then it rejects with a PausedError that says when.
 */
export function respectPause(transport: Transport, pause: Pause, clock: Clock): Transport {
  return async (query, signal) => {
    const until = pause.until();
    if (until > 0) {
      const message = `The service asked not to be called before ${formatInstant(until)} (Retry-After); nothing is sent until then.`;
      throw new PausedError(message, until);
    }
    let notBefore: number | undefined;
    const onHead = (head: Head): void => {
      notBefore = readRetryAfter(head, clock.now());
      // At once, since the body of a failure may be long in coming; that of a success has to be read first.
      if (notBefore !== undefined && head.status >= 300) pause.extend(notBefore);
      query.onHead?.(head);
    };
    try {
      return { ...(await transport({ ...query, onHead }, signal)), notBefore };
    } catch (error) {
      // A success that does not come whole is none, either.
      if (notBefore !== undefined) pause.extend(notBefore);
      throw error;
    }
  };
}
