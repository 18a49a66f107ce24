import { setImmediate } from 'node:timers/promises';

/** The promise's value, unless the signal aborts first: then its reason, whatever becomes of the promise. */
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

/**
 * As `unlessAborted`, but what the promise itself makes of the end counts for more, where it says so within a turn of
 * the event loop: it may know what was under way.
 */
export async function unlessHung<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await unlessAborted(promise, signal);
  } catch (error) {
    const late = setImmediate().then(() => Promise.reject(error));
    return await Promise.race([promise, late]);
  }
}
