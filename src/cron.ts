import { createTask, type ScheduledTask, validateDetailed } from 'node-cron';

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

/** So many at most lie before the first one after a change that both offsets name. */
const SLOTS_BEFORE_CHANGE = 64;

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
  const slotsIn: SlotsIn = (zone, count) => {
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
  const findNextSlot = createSlotFinder(timezone, slotsIn);
  let known: { readonly askedAt: number; readonly slot: number } | undefined;
  /** Asked for at every look and by every page, and costly near a change of summer time: found once for each slot. */
  const nextSlot = (): number => {
    const now = Date.now();
    if (known === undefined || now < known.askedAt || now >= known.slot)
      known = { askedAt: now, slot: findNextSlot(now) };
    return known.slot;
  };
  // Expressions such as "L-30 in February" pass the validator and fail only when a slot is asked for.
  nextSlots(SLOTS_TO_PROVE);
  nextSlot();
  return { expression, timezone, nextSlot, nextSlots, slotAfter };
}

type Matcher = { readonly getNextMatch: (after: Date) => Date };

/** The next `count` slots of an expression in a time zone, or at an offset from UTC such as `+02:00`. */
type SlotsIn = (zone: string, count: number) => readonly number[];

/**
 * node-cron names no slot in the hour that summer time leaves out, and none for an hour when one comes twice, so it is
 * asked for the next slot by the present offset from UTC as well.
 */
function createSlotFinder(timezone: string, slotsIn: SlotsIn): (now: number) => number {
  const offsetAt = createOffsets(timezone);
  /** Whether a slot by this offset is one of the zone: its hour is left out there, or it has the same name. */
  const isMeant = (slot: number, offset: string): boolean => {
    const its = offsetAt(slot);
    const isLeftOut = (): boolean => offsetAt(slot - (minutesOf(its) - minutesOf(offset)) * 60_000) === offset;
    return its === offset || isLeftOut() || slotsIn(its, SLOTS_BEFORE_CHANGE).includes(slot);
  };
  return (now) => {
    const [slot] = slotsIn(timezone, 1);
    if (slot === undefined || Number.isNaN(slot)) throw new Error('it names no slot');
    const offset = offsetAt(now);
    const [fixed = slot] = slotsIn(offset, 1);
    return fixed < slot && isMeant(fixed, offset) ? fixed : slot;
  };
}

/** How far the zone is from UTC at an instant (ms), as `+02:00`. */
function createOffsets(timezone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' });
  return (instant) => {
    const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    return /[+-]\d\d:\d\d/.exec(name)?.[0] ?? '+00:00';
  };
}

function minutesOf(offset: string): number {
  const [hours = 0, minutes = 0] = offset.split(':').map(Number);
  return hours * 60 + (offset.startsWith('-') ? -minutes : minutes);
}
