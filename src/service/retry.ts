import type { Clock } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import { RetryAfterError, RunError, TransportError } from '../errors.ts';
import { doubledMs } from './backoff.ts';

/** The time that a run has, and how it ends early. */
export type Deadline = {
  /** On the monotonic clock, in ms. */
  readonly at: number;
  readonly signal: AbortSignal;
};

/** Starts the time that something may take; it ends early when `stop` aborts. */
export function startDeadline(
  { clock }: { readonly clock: Clock },
  ms: number,
  stop: AbortSignal,
): Deadline & Disposable {
  const overtime = new AbortController();
  const timer = setTimeout(() => {
    overtime.abort(
      new TransportError('timeout', false, `No success within ${formatDuration(ms)} (LEAGUE_SYNC_RUN_TIMEOUT).`),
    );
  }, ms);
  return {
    at: clock.monotonic() + ms,
    signal: AbortSignal.any([stop, overtime.signal]),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

export type RetryOptions = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly deadline: Deadline;
  /** The longest that the first wait may be. */
  readonly firstWaitMs?: number;
};

const MOST_ATTEMPTS = 4;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/**
 * Calls `attempt` until it succeeds, fails for good, or its turn would come after the deadline: at most four times,
 * with exponential backoff and full jitter, never before the instant that a `Retry-After` named. The one layer that
 * retries.
 */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, random, deadline, firstWaitMs = FIRST_WAIT_MS } = options;
  let failures = 0;
  let last: RunError | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (last !== undefined && error === deadline.signal.reason) throw explain(error, last);
      if (!(error instanceof RunError) || !error.retryable) throw error;
      // Nothing was sent, so it is no attempt.
      if (!(error instanceof RetryAfterError)) failures += 1;
      // Full jitter: clients that failed together must not come back together.
      const backoffMs = random() * doubledMs(failures, firstWaitMs, LONGEST_WAIT_MS);
      const wait = Math.max(backoffMs, (error.notBefore ?? 0) - clock.now());
      if (failures >= MOST_ATTEMPTS || clock.monotonic() + wait >= deadline.at) throw error;
      last = error;
      await clock.sleep(wait, deadline.signal);
    }
  }
}

/** A run that has no time left says what kept it busy. */
function explain(error: unknown, last: RunError): unknown {
  if (!(error instanceof TransportError)) return error;
  const { httpStatus, serviceMessage, notBefore } = last;
  const message = `${error.message} What failed before: ${last.message}`;
  return new TransportError('timeout', false, message, { cause: last, httpStatus, serviceMessage, notBefore });
}
