import { formatDuration, writeDuration } from '../duration.ts';
import type { Fault } from '../errors.ts';
import type { StaleSettings } from './config.ts';
import type { Values } from './settings.ts';

type Limits = StaleSettings & { readonly attemptTimeoutMs: number };

/** Enough to know the interval of a schedule whatever the time is; its nights and weekends are not meant. */
const SLOTS_COMPARED = 10;
/** Of a second, a minute, an hour and a day. */
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1_000];

/** Settings that can each be used, and that cannot all mean what they say. */
export function findContradictions(config: Limits, values: Values): readonly Fault[] {
  return [...findStaleBetweenPolls(config), ...findUselessAttempt(config, values)];
}

/** Data that is stale before the next poll can renew it makes `/readyz` say 503 though nothing is wrong. */
function findStaleBetweenPolls({ staleAfterMs, schedule, runTimeoutMs }: StaleSettings): readonly Fault[] {
  if (staleAfterMs === undefined) return [];
  const slots = schedule.nextSlots(SLOTS_COMPARED);
  const gap = Math.min(...slots.slice(1).map((slot, index) => slot - (slots[index] ?? slot)));
  if (staleAfterMs > gap) return [];
  const message = `LEAGUE_SYNC_STALE_AFTER: data is stale after ${formatDuration(staleAfterMs)}, and polls are ${formatDuration(gap)} apart (LEAGUE_SYNC_SCHEDULE)`;
  return [{ message, fix: `set it to ${writeDuration(roundUp(gap + runTimeoutMs))} or more, or remove it` }];
}

/** Not if only the limit of a run was set: a run is then one attempt. */
function findUselessAttempt({ attemptTimeoutMs, runTimeoutMs }: Limits, values: Values): readonly Fault[] {
  if (values.LEAGUE_SYNC_ATTEMPT_TIMEOUT === undefined || attemptTimeoutMs <= runTimeoutMs) return [];
  const message = `LEAGUE_SYNC_ATTEMPT_TIMEOUT: one request may take ${formatDuration(attemptTimeoutMs)}, and the whole run only ${formatDuration(runTimeoutMs)} (LEAGUE_SYNC_RUN_TIMEOUT)`;
  return [{ message, fix: `set it to ${writeDuration(runTimeoutMs)} or less, or raise LEAGUE_SYNC_RUN_TIMEOUT` }];
}

/** To the next whole minute, hour or day: a length that a person would write. */
function roundUp(ms: number): number {
  const unit = UNITS_MS.find((size) => ms >= 2 * size) ?? 1_000;
  return Math.ceil(ms / unit) * unit;
}
