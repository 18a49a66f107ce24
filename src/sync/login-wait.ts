import { RunError } from '../errors.ts';
import { LASTING_FAILURE } from '../service/session-backoff.ts';
import type { LastingFailure } from '../store/tables/logins.ts';
import { formatTimestamp } from '../time/clock.ts';
import { exponentialDelayMs } from '../time/exponential-delay.ts';

/** The error for a login that must wait after `earlier` ones, newest first, unless `reasonAt` (ms) came later. */
export function findLoginWait(earlier: readonly LastingFailure[], reasonAt: number, now: number): RunError | undefined {
  const [last] = earlier;
  if (last === undefined) return undefined;
  const at = Date.parse(last.at);
  const until = at + exponentialDelayMs(earlier.length, LASTING_FAILURE.initialMs, LASTING_FAILURE.maxMs);
  // If the clock was set back, it is unknown how much of the wait is left.
  if (reasonAt > at || now < at || now >= until) return undefined;
  const next = `Nothing was sent; the next try may be made at ${formatTimestamp(until)}, or at once if the secret file or .env changes, or at a terminal.`;
  const httpStatus = last.http_status ?? undefined;
  return new RunError(last.error_kind, false, `${last.error_message} ${next}`, { httpStatus });
}
