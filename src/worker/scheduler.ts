import type { Clock } from '../time/clock.ts';
import type { Schedule } from '../time/cron.ts';

/** Between two checks. Timestamps in ms. */
export type ScheduleState = { readonly next: number; readonly lastCheck: number };

/** Why a run is due: its time has come, or was missed. */
export type Due = 'schedule' | 'catch-up';

/** On a machine that is awake a check is at most this late. */
const LATE_MS = 2_000;
/** Clock corrections step back by less, and `next` stays right. */
const STEP_BACK_MS = 2_000;
/** Short, since timers notice neither a clock step nor the end of a suspension. */
const TICK_MS = 1_000;

/**
 * Pure: `nextTime` gives the first scheduled time after `now`. However many were missed, they are made up for once; after
 * a step back the next one is found again.
 */
export function checkSchedule(
  { next, lastCheck }: ScheduleState,
  now: number,
  nextTime: () => number,
): { readonly state: ScheduleState; readonly due?: Due } {
  if (now >= next)
    return { state: { next: nextTime(), lastCheck: now }, due: now - next > LATE_MS ? 'catch-up' : 'schedule' };
  return { state: { next: now < lastCheck - STEP_BACK_MS ? nextTime() : next, lastCheck: now } };
}

export type ScheduledJob = { readonly schedule: Schedule; readonly onDue: (due: Due) => void };

/** Runs until the signal aborts. Jobs that fall due together are called in the order given. */
export async function runScheduler(
  jobs: readonly ScheduledJob[],
  { clock, onTick }: { readonly clock: Clock; readonly onTick: () => void },
  signal: AbortSignal,
): Promise<void> {
  const states = jobs.map(({ schedule }) => ({ next: schedule.nextTime(), lastCheck: clock.now() }));
  while (!signal.aborted) {
    const now = clock.now();
    for (const [index, { schedule, onDue }] of jobs.entries()) {
      const { state, due } = checkSchedule(states[index] as ScheduleState, now, schedule.nextTime);
      states[index] = state;
      if (due !== undefined) onDue(due);
    }
    onTick();
    const untilNext = Math.min(...states.map(({ next }) => next - now));
    await clock.sleep(Math.max(1, Math.min(TICK_MS, untilNext)), signal).catch(() => undefined);
  }
}
