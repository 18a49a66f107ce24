import { RetryAfterError, RunError, TransportError } from '../errors.ts';
import { type Clock, exponentialDelayMs, timeOfDay } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';
import type { ConnectionOptions, System } from './connection.ts';

export type Deadline = {
  /** The end of the time limit on the monotonic clock, in ms. */
  readonly at: number;
  readonly signal: AbortSignal;
};

/** Starts a time limit of `ms`. Its signal aborts at the end, or as soon as `stop` aborts. */
export function startDeadline(clock: Clock, ms: number, stop: AbortSignal): Deadline & Disposable {
  const timeout = new AbortController();
  const ended = new AbortController();
  const end = (): void => {
    const message = `No success within ${formatDuration(ms)} (LEAGUE_SYNC_RUN_TIMEOUT).`;
    timeout.abort(new TransportError('timeout', false, message));
  };
  clock.sleep(ms, ended.signal).then(end, () => undefined);
  return {
    at: clock.monotonic() + ms,
    signal: AbortSignal.any([stop, timeout.signal]),
    [Symbol.dispose]: () => ended.abort('disposed'),
  };
}

type RetryOptions = Pick<System, 'clock' | 'random'> & {
  readonly emit?: ConnectionOptions['emit'];
  readonly deadline: Deadline;
  readonly firstWaitMs?: number;
};

const MAX_ATTEMPTS = 4;
const MAX_WAIT_MS = 30_000;

/** At most four attempts, and none after the deadline; between them full jitter, and at least a `Retry-After`. */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, random, deadline, firstWaitMs = 500, emit = () => undefined } = options;
  let failures = 0;
  let last: RunError | undefined;
  for (;;) {
    emit({ type: 'progress', attempt: nameOf(failures) });
    try {
      return await attempt();
    } catch (error) {
      if (last !== undefined && error === deadline.signal.reason) throw withLastFailure(error, last);
      if (!(error instanceof RunError) || !error.retryable) throw error;
      // A RetryAfterError means that nothing was sent, so it does not count as an attempt.
      if (!(error instanceof RetryAfterError)) failures += 1;
      const backoffMs = random() * exponentialDelayMs(failures, firstWaitMs, MAX_WAIT_MS);
      const waitMs = Math.max(backoffMs, (error.notBefore ?? 0) - clock.now());
      if (failures >= MAX_ATTEMPTS || clock.monotonic() + waitMs >= deadline.at) throw error;
      last = error;
      const until = timeOfDay(clock.now() + waitMs, clock.now());
      emit({ type: 'progress', what: `waiting until ${until} before ${nameOf(failures)}: ${error.message}` });
      await clock.sleep(waitMs, deadline.signal);
    }
  }
}

const nameOf = (failures: number): string => `attempt ${failures + 1} of ${MAX_ATTEMPTS}`;

/** Adds the last failure to a timeout, which alone would not say why the attempts failed. */
function withLastFailure(error: unknown, last: RunError): unknown {
  if (!(error instanceof TransportError)) return error;
  const { httpStatus, serviceMessage, notBefore } = last;
  const message = `${error.message} Previous failure: ${last.message}`;
  return new TransportError('timeout', false, message, { cause: last, httpStatus, serviceMessage, notBefore });
}
