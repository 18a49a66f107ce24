import type { Clock } from '../clock.ts';
import { DatabaseError, StoppedError } from '../errors.ts';

/**
 * Does synchronous database work as soon as no other program is in the way, without ever stopping the process.
 * Rejects with what the work threw; with the busy error when patience ends, or when a signal that is a deadline ends the
 * wait, since the other program is why the time was not enough; with the StoppedError of a signal that is a stop.
 */
export type Patience = <T>(work: () => T, signal?: AbortSignal) => Promise<T>;

const LOOK_AGAIN_MS = 100;
const LONG_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;
/** All waits together after the worker was told to stop: it has 10 s in all. */
const LONGEST_WAIT_WHEN_STOPPING_MS = 3_000;

/** `onLongWait` is told, once in each wait, that it has become one that somebody might wonder about. */
export function createPatience(
  clock: Clock,
  stop: AbortSignal,
  onLongWait: (error: DatabaseError) => void = () => undefined,
): Patience {
  let stoppingUntil = Number.POSITIVE_INFINITY;
  const limitStopping = (): void => {
    stoppingUntil = clock.monotonic() + LONGEST_WAIT_WHEN_STOPPING_MS;
  };
  if (stop.aborted) limitStopping();
  else stop.addEventListener('abort', limitStopping, { once: true });

  return async (work, signal) => {
    let begun: number | undefined;
    let told = false;
    for (;;) {
      try {
        return work();
      } catch (error) {
        const now = clock.monotonic();
        begun ??= now;
        const over = now >= Math.min(begun + LONGEST_WAIT_MS, stoppingUntil);
        if (!(error instanceof DatabaseError) || !error.busy || over) throw error;
        if (!told && now >= begun + LONG_WAIT_MS) {
          told = true;
          onLongWait(error);
        }
        await clock.sleep(LOOK_AGAIN_MS, signal).catch((reason: unknown) => {
          throw reason instanceof StoppedError ? reason : error;
        });
      }
    }
  };
}
