const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WAITS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR];
const LAST_WAIT_MS = 10 * HOUR;

/** How long to wait after the `failures`th failed attempt; up to a tenth longer at random (`random` is from 0 to 1). */
export function retryWaitMs(failures: number, random: number): number {
  return (WAITS_MS[failures - 1] ?? LAST_WAIT_MS) * (1 + random / 10);
}
