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

/** Longer than any change of summer time is, and shorter than the time between two. */
const CHANGE_MS = 3 * 3_600_000;

/** One a second, for the hour that comes twice. */
const MOST_SLOTS = 4_096;
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
  const offsetAt = createOffsets(timezone);
  const isHourly = namesEveryHour(expression.split(' ').at(-4) ?? '');
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
    const offsets = new Set([now, slot, now - CHANGE_MS, now + CHANGE_MS].map(offsetAt));
    const first = [...offsets].reduce(
      (limit, offset) => Math.min(limit, firstMeant(offset, limit)),
      Number.POSITIVE_INFINITY,
    );
    return first === Number.POSITIVE_INFINITY ? slot : first;
  };
  /** The first slot by this offset that the zone has, unless there is none before `limit`. */
  const firstMeant = (offset: string, limit: number): number => {
    for (let count = 1; count <= MOST_SLOTS; count *= 8) {
      const found = slotsIn(offset, count).find((slot) => slot >= limit || isMeant(slot, offset));
      if (found !== undefined) return found;
    }
    return limit;
  };
  /**
   * Whether the zone has a slot that is reckoned by this offset. In the hour that is left out slots come as if it were
   * there; in one that comes twice they come twice where every hour has some, and else the second time.
   */
  const isMeant = (slot: number, offset: string): boolean => {
    const its = offsetAt(slot);
    if (its === offset) {
      const later = offsetAt(slot + CHANGE_MS);
      const again = slot + (minutesOf(offset) - minutesOf(later)) * 60_000;
      return isHourly || again <= slot || offsetAt(again) !== later;
    }
    const sooner = slot - (minutesOf(its) - minutesOf(offset)) * 60_000;
    return sooner < slot && offsetAt(sooner) === offset && offsetAt(slot - CHANGE_MS) === offset;
  };
  // Expressions such as "L-30 in February" pass the validator and fail only when a slot is asked for.
  nextSlots(SLOTS_TO_PROVE);
  nextSlot();
  return { expression, timezone, nextSlot, nextSlots, slotAfter };
}

type Matcher = { readonly getNextMatch: (after: Date) => Date };

/** How far a zone is from UTC at an instant (ms), as `+02:00`. */
function createOffsets(timezone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' });
  return (instant) => {
    const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    return /[+-]\d\d:\d\d/.exec(name)?.[0] ?? '+00:00';
  };
}

/** Whether the field of hours holds all of them. */
function namesEveryHour(field: string): boolean {
  const hours = field.split(',').flatMap((part) => {
    if (part === '*' || part === '*/1') return Array.from({ length: 24 }, (_, hour) => hour);
    const [from = Number.NaN, to = from] = part.split('-').map(Number);
    return Array.from({ length: Math.max(0, to - from + 1) || 0 }, (_, hour) => from + hour);
  });
  return new Set(hours).size === 24;
}

function minutesOf(offset: string): number {
  const [hours = 0, minutes = 0] = offset.split(':').map(Number);
  return hours * 60 + (offset.startsWith('-') ? -minutes : minutes);
}
