import type { Clock } from './clock.ts';

/** An interruptible sleep, which `wake` ends. If nothing sleeps, `wake` ends the next sleep at once, so that no call of it is lost. */
export function createWakeableSleep({ sleep }: Clock) {
  let woken = new AbortController();
  return {
    // With a reason, since without one each call would make an error and its stack.
    wake: (): void => woken.abort('woken'),
    /** Also ends if the signal aborts; never rejects. */
    sleep: async (ms: number, signal: AbortSignal): Promise<void> => {
      await sleep(ms, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
      if (woken.signal.aborted) woken = new AbortController();
    },
  };
}
