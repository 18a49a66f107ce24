import { createRetryAfter } from '../http/retry-after.ts';
import { createDriftLog } from '../league/drift.ts';
import { createSecrets } from '../redact.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import type { Transport } from './transport.ts';
import { withRetryAfter } from './transport.ts';

export type ServiceConnection = ReturnType<typeof createConnection>;

/** `retryAfterLeftMs` is what is left of a stored `Retry-After`; `onRetryAfter` gets each new end (ms) of the wait. */
export function createConnection(
  transport: Transport,
  { retryAfterLeftMs, onRetryAfter }: { retryAfterLeftMs?: number; onRetryAfter?: (until: number) => void } = {},
  { clock = systemClock, random = Math.random }: { clock?: Clock; random?: () => number } = {},
) {
  const retryAfter = createRetryAfter(clock, retryAfterLeftMs, onRetryAfter);
  return {
    transport: withRetryAfter(transport, retryAfter, clock),
    retryAfter,
    secrets: createSecrets(clock.monotonic),
    drift: createDriftLog(),
    clock,
    random,
  };
}
