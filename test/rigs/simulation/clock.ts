import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../src/time/clock.ts';

type Sleeper = { readonly wakeAt: number; readonly isTick: boolean; readonly wake: () => void };

export type SimulatedClock = ReturnType<typeof createSimulatedClock>;

/** The worker looks around this often or more often (ms); such a sleep may last longer, as on a busy machine. */
const LONGEST_TICK_MS = 10_000;
/** Resolves once every promise that can be settled is. */
const promisesRest = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Time that only `advance` moves. `wall` steps as clocks of machines do; `elapsed` never does. */
export function createSimulatedClock(startAt: number) {
  const sleepers = new Set<Sleeper>();
  let elapsed = 0;
  let wallAhead = startAt;

  const sleepUntilWoken = (ms: number, signal: AbortSignal | undefined, isTick: boolean): Promise<void> => {
    if (ms <= 0) return Promise.resolve();
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { wakeAt: Math.ceil(elapsed + ms), isTick, wake: resolve };
    sleepers.add(sleeper);
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    return promise.finally(() => {
      sleepers.delete(sleeper);
      signal?.removeEventListener('abort', abort);
    });
  };
  const earliest = (of: readonly Sleeper[]): Sleeper | undefined =>
    of.reduce<Sleeper | undefined>((first, one) => (first && first.wakeAt <= one.wakeAt ? first : one), undefined);
  /** Lets everything that time has set in motion come to rest. Turns of the event loop are dear: taken if one is asked. */
  const settle = async (): Promise<void> => {
    await promisesRest();
    while (process.getActiveResourcesInfo().includes('Immediate')) await setImmediate();
  };
  const wakeDue = async (): Promise<void> => {
    for (;;) {
      const next = earliest([...sleepers].filter(({ wakeAt }) => wakeAt <= elapsed));
      if (next === undefined) return;
      sleepers.delete(next);
      next.wake();
      await settle();
    }
  };
  const clock: Clock = {
    now: () => wallAhead + elapsed,
    monotonic: () => elapsed,
    sleep: (ms, signal) => sleepUntilWoken(ms, signal, ms <= LONGEST_TICK_MS),
  };
  return {
    clock,
    /** For what is outside of the worker: it is never late. */
    sleep: (ms: number, signal: AbortSignal): Promise<void> => sleepUntilWoken(ms, signal, false),
    elapsed: () => elapsed,
    step: (ms: number): void => {
      wallAhead += ms;
    },
    settle,
    /**
     * Moves to the end of the next sleep, and at most to `limit`. Short sleeps, as of a loop that looks every few
     * seconds, may last `slackMs` longer; others may not.
     */
    advance: async (limit: number, slackMs: number): Promise<void> => {
      const all = [...sleepers];
      const sharp = earliest(all.filter(({ isTick }) => !isTick))?.wakeAt ?? limit;
      const next = earliest(all)?.wakeAt ?? limit;
      elapsed = Math.max(elapsed, Math.min(limit, sharp, next + slackMs));
      await wakeDue();
    },
  };
}
