/** The delay (ms) after a number of failures in a row: `initialMs`, doubled with each further failure up to `maxMs`. */
export function exponentialDelayMs(failures: number, initialMs: number, maxMs: number): number {
  return Math.min(maxMs, initialMs * 2 ** Math.max(0, failures - 1));
}
