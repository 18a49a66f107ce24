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

export type RetryOptions = { readonly clock: Clock; readonly random: () => number; readonly deadline: Deadline };

const MOST_ATTEMPTS = 4;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/**
 * Calls `attempt` until it succeeds, fails for good, or its turn would come after the deadline: at most four times,
 * with exponential backoff and full jitter, never before the instant that a `Retry-After` named. The one layer that
 * retries.
 */
export async function retry<T>(attempt: () => Promise<T>, { clock, random, deadline }: RetryOptions): Promise<T> {
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
      const wait = Math.max(backoffMs(failures, random), (error.notBefore ?? 0) - clock.now());
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

/** Full jitter: clients that failed together must not come back together. */
function backoffMs(failures: number, random: () => number): number {
  return random() * doubledMs(failures, FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS);
}
