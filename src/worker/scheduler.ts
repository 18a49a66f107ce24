import type { Clock } from '../time/clock.ts';
import type { Schedule } from '../time/cron.ts';

/** The state of a job between two checks; timestamps in ms. */
export type ScheduleState = { readonly next: number; readonly lastCheck: number };

/** `catch-up`: the scheduled time was missed. */
export type Due = 'schedule' | 'catch-up';

/** A scheduled time that is noticed later than this counts as missed; suspensions and clock steps cause that. */
const LATE_MS = 2_000;
/** If the clock steps back further than this, `next` is recalculated; smaller steps are usual corrections. */
const STEP_BACK_MS = 2_000;
/** Interval of the checks: short, since timers are not adjusted after a clock step or a suspension. */
const TICK_MS = 1_000;

/** Pure function; `nextTime` returns the first scheduled time after `now`. One catch-up covers several missed runs. */
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

/** Checks the jobs each second until the signal aborts. Jobs that fall due together are called in the given order. */
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
