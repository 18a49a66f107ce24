import { DatabaseError, StoppedError } from '../errors.ts';
import type { Clock } from '../time/clock.ts';

/** Retries database work while another program has it locked; rejects after 60 s, or with the reason of `signal`. */
export type RetryWhileBusy = <T>(work: () => T, signal?: AbortSignal) => Promise<T>;

const RETRY_MS = 100;
const LONG_WAIT_MS = 2_000;
const MAX_WAIT_MS = 60_000;
/** All waits end this long after the stop signal at the latest, since the worker must exit within 10 s. */
const MAX_WAIT_WHEN_STOPPING_MS = 3_000;

export function createRetryWhileBusy(
  clock: Clock,
  stop: AbortSignal,
  onLongWait: (error: DatabaseError) => void = () => undefined,
): RetryWhileBusy {
  let stoppingUntil = Number.POSITIVE_INFINITY;
  const limitWait = (): void => {
    stoppingUntil = clock.monotonic() + MAX_WAIT_WHEN_STOPPING_MS;
  };
  if (stop.aborted) limitWait();
  else stop.addEventListener('abort', limitWait, { once: true });

  return async (work, signal) => {
    let startedAt: number | undefined;
    let isReported = false;
    for (;;) {
      try {
        return work();
      } catch (error) {
        const now = clock.monotonic();
        startedAt ??= now;
        const isOver = now >= Math.min(startedAt + MAX_WAIT_MS, stoppingUntil);
        if (!(error instanceof DatabaseError) || !error.busy || isOver) throw error;
        if (!isReported && now >= startedAt + LONG_WAIT_MS) {
          isReported = true;
          onLongWait(error);
        }
        await clock.sleep(RETRY_MS, signal).catch((reason: unknown) => {
          throw reason instanceof StoppedError ? reason : error;
        });
      }
    }
  };
}
