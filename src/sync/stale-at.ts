import type { Config } from '../config/config.ts';
import { formatTimestamp } from '../time/clock.ts';

export type StaleSettings = Pick<Config, 'schedule' | 'runTimeoutMs' | 'staleAfterMs'>;

/** By default, data becomes stale one run timeout after this many polls have come due since the last good one. */
const MISSED_POLLS = 3;

/** When the data of a poll that succeeded at `now` (ms) becomes stale, unless another poll succeeds. */
export function staleAt({ schedule, runTimeoutMs, staleAfterMs }: StaleSettings, now: number): string {
  if (staleAfterMs !== undefined) return formatTimestamp(now + staleAfterMs);
  const [last = now] = schedule.nextTimes(MISSED_POLLS, now).slice(-1);
  return formatTimestamp(last + runTimeoutMs);
}
