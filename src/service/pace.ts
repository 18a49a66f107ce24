import type { Clock } from '../clock.ts';
import { RunError } from '../errors.ts';

/** How long after logins that failed the session tries by itself again. Polls that need a token ask for it sooner. */
export type Pace = {
  /** A login failed, its retries included. */
  readonly slowDown: (error: unknown) => void;
  /** A login succeeded. */
  readonly reset: () => void;
  readonly leftMs: () => number;
};

export type PaceOptions = { readonly clock: Clock; readonly random: () => number };

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;

/** A second, doubling to five minutes, of which chance takes up to a half; never less than the service asks for. */
export function createPace({ clock, random }: PaceOptions): Pace {
  let failures = 0;
  /** On the monotonic clock, in ms. */
  let endsAt = Number.NEGATIVE_INFINITY;
  return {
    slowDown: (error) => {
      failures += 1;
      const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
      const pauseMs = error instanceof RunError ? (error.notBefore ?? 0) - clock.now() : 0;
      endsAt = clock.monotonic() + Math.max((0.5 + random() / 2) * longest, pauseMs);
    },
    reset: () => {
      failures = 0;
      endsAt = Number.NEGATIVE_INFINITY;
    },
    leftMs: () => Math.max(0, endsAt - clock.monotonic()),
  };
}
