import { setImmediate } from 'node:timers/promises';

/** Lets other work have its turn. Rejects with the reason of a signal that has aborted. */
export async function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  await setImmediate();
  signal?.throwIfAborted();
}
