import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../time/duration.ts';

const WAITS_MS = [5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS];
const LAST_WAIT_MS = 10 * HOUR_MS;

/** How long to wait after the `failures`th failed attempt; up to a tenth longer at random (`random` is from 0 to 1). */
export function retryWaitMs(failures: number, random: number): number {
  return (WAITS_MS[failures - 1] ?? LAST_WAIT_MS) * (1 + random / 10);
}
