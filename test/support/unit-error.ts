/** The error that a function throws, for tests that check more than its message. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}

/** The same for a promise that has to reject. */
export function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => Promise.reject(new Error('The promise was fulfilled.')),
    (error: unknown) => error,
  );
}
