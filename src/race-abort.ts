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
 * The promise's own end, also where it comes within a turn of the event loop after the signal has aborted, else the
 * signal's reason: what was under way may know more of its end than the signal does.
 */
export async function settledOrAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await unlessAborted(promise, signal);
  } catch (error) {
    const late = setImmediate().then(() => Promise.reject(error));
    return await Promise.race([promise, late]);
  }
}
