import type { Clock } from '../time/clock.ts';
import type { Schedule } from '../time/next-cron-time.ts';

/** The state of a job between two checks; timestamps in ms. */
export type ScheduleState = { readonly next: number; readonly lastCheck: number };

/** `catch-up`: the scheduled time was missed. */
export type Due = 'schedule' | 'catch-up';

/** A scheduled time counts as missed if it is noticed later than this, as after a suspension or a clock step. */
const LATE_MS = 2_000;
/** If the clock steps back further than this, `next` is recalculated; smaller steps are ordinary corrections. */
const STEP_BACK_MS = 2_000;
/** The longest interval between checks. It is short, since timers do not adjust to a clock step or a suspension. */
const TICK_MS = 1_000;

/** Several missed runs cause one catch-up. */
export function checkSchedule(
  { next, lastCheck }: ScheduleState,
  now: number,
  nextTime: Schedule['nextTime'],
): { readonly state: ScheduleState; readonly due?: Due } {
  if (now >= next)
    return { state: { next: nextTime(now), lastCheck: now }, due: now - next > LATE_MS ? 'catch-up' : 'schedule' };
  return { state: { next: now < lastCheck - STEP_BACK_MS ? nextTime(now) : next, lastCheck: now } };
}

export type ScheduledJob = { readonly schedule: Pick<Schedule, 'nextTime'>; readonly onDue: (due: Due) => void };

/** Checks all jobs and then calls `onTick`, about once a second, until the signal aborts. */
export async function runScheduler(
  jobs: readonly ScheduledJob[],
  { clock, onTick }: { readonly clock: Clock; readonly onTick: () => void },
  signal: AbortSignal,
): Promise<void> {
  const begun = clock.now();
  const states = jobs.map(({ schedule }) => ({ next: schedule.nextTime(begun), lastCheck: begun }));
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
