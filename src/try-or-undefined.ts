/** The value of `work`; undefined if it throws. For what may fail without harm; say at the call why that is so. */
export function tryOrUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
