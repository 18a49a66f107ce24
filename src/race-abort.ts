import { setImmediate } from 'node:timers/promises';

/** Rejects with the signal's reason as soon as it aborts, without waiting for the promise. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Like `unlessAborted`, but gives the promise one more turn to reject with its own error, which is more specific. */
export function settledOrAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return unlessAborted(promise, signal).catch((error: unknown) =>
    Promise.race([promise, setImmediate().then(() => Promise.reject(error))]),
  );
}

/** Waits a turn of the event loop. Rejects with the signal's reason if the signal has aborted by then. */
export async function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  await setImmediate();
  signal?.throwIfAborted();
}
