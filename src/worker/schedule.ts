import type { Clock } from '../clock.ts';
import type { Schedule } from '../cron.ts';

/** What is remembered between two looks at the clock. Instants in ms. */
export type Watch = {
  /** The slot that is waited for. */
  readonly next: number;
  /** When the clock was looked at last. */
  readonly seen: number;
};

/** Why a run is due: its slot has come, or it came while nobody was looking. */
export type Due = 'schedule' | 'catch-up';

/** A look comes at most this late on a machine that is awake; later than that, the slot was missed. */
const LATE_MS = 2_000;
/** A smaller step back is the ordinary correction of a clock, and the waiting slot stays right. */
const STEP_BACK_MS = 2_000;
/** Looking this often finds steps of the clock and the end of a suspension, whatever timers believe. */
const LOOK_MS = 1_000;

/**
 * Looks at the clock and decides. Pure: `nextSlot` gives the first slot after `now`. However many slots were missed,
 * they are made up once and never counted; after a step back the next slot is found anew.
 */
export function look(watch: Watch, now: number, nextSlot: () => number): { readonly watch: Watch; readonly due?: Due } {
  if (now >= watch.next) {
    return { watch: { next: nextSlot(), seen: now }, due: now - watch.next > LATE_MS ? 'catch-up' : 'schedule' };
  }
  if (now < watch.seen - STEP_BACK_MS) return { watch: { next: nextSlot(), seen: now } };
  return { watch: { next: watch.next, seen: now } };
}

/** A schedule and what to do when one of its slots is due. */
export type Watched = { readonly schedule: Schedule; readonly onDue: (due: Due) => void };

/** Watches schedules until the signal aborts; those that fall due together are called in the order given. */
export async function watchSlots(
  watched: readonly Watched[],
  { clock, onLook }: { readonly clock: Clock; readonly onLook: () => void },
  signal: AbortSignal,
): Promise<void> {
  let watches = watched.map(({ schedule }): Watch => ({ next: schedule.nextSlot(), seen: clock.now() }));
  while (!signal.aborted) {
    const now = clock.now();
    const looks = watched.map(({ schedule }, index) => look(watches[index] as Watch, now, schedule.nextSlot));
    watches = looks.map((found) => found.watch);
    for (const [index, { due }] of looks.entries()) if (due !== undefined) watched[index]?.onDue(due);
    onLook();
    const untilNext = Math.min(...watches.map((watch) => watch.next - now));
    await clock.sleep(Math.max(1, Math.min(LOOK_MS, untilNext)), signal).catch(() => undefined);
  }
}
