import { formatDuration, writeDuration } from '../duration.ts';
import type { Fault } from '../errors.ts';
import type { Config } from './config.ts';

/** Enough to know the interval of a schedule whatever the time is; its nights and weekends are not meant. */
const SLOTS_COMPARED = 10;

type Values = Readonly<Record<string, string>>;

/** Settings that can each be used, and that cannot all mean what they say. */
export function findContradictions(config: Omit<Config, 'warnings'>, values: Values): readonly Fault[] {
  return [...findStaleBetweenPolls(config), ...findUselessAttempt(config, values)];
}

/** Data that is stale before the next poll can renew it makes `/readyz` say 503 though nothing is wrong. */
function findStaleBetweenPolls({ staleAfterMs, schedule, runTimeoutMs }: Omit<Config, 'warnings'>): readonly Fault[] {
  if (staleAfterMs === undefined) return [];
  const slots = schedule.nextSlots(SLOTS_COMPARED);
  const gap = Math.min(...slots.slice(1).map((slot, index) => slot - (slots[index] ?? slot)));
  if (staleAfterMs > gap) return [];
  const message = `LEAGUE_SYNC_STALE_AFTER: data is stale after ${formatDuration(staleAfterMs)}, and polls are ${formatDuration(gap)} apart (LEAGUE_SYNC_SCHEDULE)`;
  return [{ message, fix: `set it to ${writeDuration(roundUp(gap + runTimeoutMs))} or more, or remove it` }];
}

/** Not if only the limit of a run was set: a run is then one attempt. */
function findUselessAttempt(
  { attemptTimeoutMs, runTimeoutMs }: Omit<Config, 'warnings'>,
  values: Values,
): readonly Fault[] {
  if (values.LEAGUE_SYNC_ATTEMPT_TIMEOUT === undefined || attemptTimeoutMs <= runTimeoutMs) return [];
  const run = formatDuration(runTimeoutMs);
  const message = `LEAGUE_SYNC_ATTEMPT_TIMEOUT: one request may take ${formatDuration(attemptTimeoutMs)}, and the whole run only ${run} (LEAGUE_SYNC_RUN_TIMEOUT)`;
  return [{ message, fix: `set it to ${writeDuration(runTimeoutMs)} or less, or raise LEAGUE_SYNC_RUN_TIMEOUT` }];
}

/** To the next whole minute, hour or day: a length that a person would write. */
function roundUp(ms: number): number {
  const unit = [DAY_MS, HOUR_MS, MINUTE_MS].find((size) => ms >= 2 * size) ?? SECOND_MS;
  return Math.ceil(ms / unit) * unit;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
