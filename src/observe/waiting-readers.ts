import type { Listener } from '../events.ts';

/** More readers than this cannot wait at once. */
const MOST_WAITING = 100;

/** Readers of the feed that wait for its next change. `stop`: of the worker, which ends all waits. */
export function createWaitingReaders(stop: AbortSignal) {
  const sleeping = new Set<() => void>();
  let places = MOST_WAITING;
  const wakeAll = (): void => {
    for (const wake of sleeping) wake();
  };
  stop.addEventListener('abort', wakeAll, { once: true });
  const onEvent: Listener = (event) => {
    if (event.type === 'runEnded' && event.report.wrote) wakeAll();
  };
  return {
    onEvent,
    /** Takes a place until it is disposed; undefined if none is free. */
    enter: (): Disposable | undefined => {
      if (places === 0) return undefined;
      places -= 1;
      return {
        [Symbol.dispose]: () => {
          places += 1;
        },
      };
    },
    /**
     * Resolves after a poll that wrote something, after `ms`, when the reader has gone, or when the worker stops:
     * to whether the reader still waits.
     */
    wait: async (ms: number, gone: AbortSignal): Promise<boolean> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      sleeping.add(resolve);
      gone.addEventListener('abort', () => resolve(), { once: true });
      if (!gone.aborted && !stop.aborted) await promise;
      clearTimeout(timer);
      sleeping.delete(resolve);
      return !gone.aborted && !stop.aborted;
    },
  };
}
