import { setImmediate } from 'node:timers/promises';

/** Settles like the promise, but rejects with the signal's reason as soon as the signal aborts. */
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

/** Like `unlessAborted`, but after an abort, waits a turn for the promise's own error, which is more specific. */
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
