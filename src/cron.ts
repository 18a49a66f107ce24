import { createTask, type ScheduledTask, validateDetailed } from 'node-cron';
import { createSlotFinder } from './summer-time.ts';

/** The slots that a cron expression names in one time zone. */
export type Schedule = {
  readonly expression: string;
  readonly timezone: string;
  /** The first slot after the present moment of the system clock, in ms. */
  readonly nextSlot: () => number;
  /** The next `count` slots after the present moment of the system clock, in ms. */
  readonly nextSlots: (count: number) => readonly number[];
  /** The `count`th slot after an instant (ms). */
  readonly slotAfter: (instant: number, count: number) => number;
};

/** Two slots in a row show the gap; more than that only costs time. */
const SLOTS_TO_PROVE = 2;

/**
 * Reads a cron expression: 5 fields, or 6 with seconds first. node-cron does the arithmetic of slots; its timers are
 * not used, because they fall silent or run away when the clock steps. Throws an Error whose message says what is
 * wrong with the expression.
 */
export function parseSchedule(text: string, timezone: string): Schedule {
  const expression = text.trim().replace(/\s+/g, ' ');
  const fields = expression.split(' ').length;
  if (fields !== 5 && fields !== 6) throw new Error(`it has ${fields} field${fields === 1 ? '' : 's'}`);
  const { valid, errors } = validateDetailed(expression);
  if (!valid) throw new Error(errors.map((error) => error.message).join('; ') || 'it is not a cron expression');

  const tasks = new Map<string, ScheduledTask>();
  const slotsIn = (zone: string, count: number): readonly number[] => {
    const task = tasks.get(zone) ?? createTask(expression, () => undefined, { timezone: zone });
    tasks.set(zone, task);
    return task.getNextRuns(count).map((date) => date.getTime());
  };
  const nextSlots = (count: number): readonly number[] => slotsIn(timezone, count);
  const slotAfter = (instant: number, count: number): number => {
    // Its own list begins at the present; what that is made of is no part of its types.
    const task = tasks.get(timezone) as ScheduledTask & { readonly timeMatcher: Matcher };
    let slot = new Date(instant);
    for (let found = 0; found < count; found += 1) slot = task.timeMatcher.getNextMatch(slot);
    return slot.getTime();
  };
  const hours = expression.split(' ').at(-4) ?? '';
  const findSlot = createSlotFinder({ timezone, hours, slotsIn });
  let known: { readonly askedAt: number; readonly slot: number } | undefined;
  /** Asked for at every look and by every page, and costly where summer time changes: found once for each slot. */
  const nextSlot = (): number => {
    const now = Date.now();
    if (known === undefined || now < known.askedAt || now >= known.slot)
      known = { askedAt: now, slot: findNextSlot(now) };
    return known.slot;
  };
  const findNextSlot = (now: number): number => {
    const [slot] = nextSlots(1);
    if (slot === undefined || Number.isNaN(slot)) throw new Error('it names no slot');
    return findSlot(now, slot);
  };
  // Expressions such as "L-30 in February" pass the validator and fail only when a slot is asked for.
  nextSlots(SLOTS_TO_PROVE);
  nextSlot();
  return { expression, timezone, nextSlot, nextSlots, slotAfter };
}

type Matcher = { readonly getNextMatch: (after: Date) => Date };
