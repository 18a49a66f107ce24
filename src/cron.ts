import { createTask, type ScheduledTask, validateDetailed } from 'node-cron';

/** The slots that a cron expression names in one time zone. */
export type Schedule = {
  readonly expression: string;
  readonly timezone: string;
  /** The first slot after the present moment of the system clock, in ms. */
  readonly nextSlot: () => number;
  /** The next `count` slots after the present moment of the system clock, in ms. */
  readonly nextSlots: (count: number) => readonly number[];
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
  const offsetAt = createOffsets(timezone);
  const isHourly = expression.split(' ').at(-4)?.startsWith('*') ?? false;
  const nextSlot = (): number => {
    const [slot] = nextSlots(1);
    if (slot === undefined || Number.isNaN(slot)) throw new Error('it names no slot');
    return Math.min(slot, ...slotsAround(offsetAt(Date.now()), offsetAt(slot)));
  };
  /**
   * The slots that node-cron leaves out where summer time begins or ends. In the hour that does not exist they come as if
   * it did; an hour that comes twice has them twice where every hour has some, and else at its second time.
   */
  const slotsAround = (now: string, then: string): readonly number[] =>
    [...new Set([now, then])].flatMap((offset) => {
      const [slot] = slotsIn(offset, 1);
      if (slot === undefined) return [];
      const its = offsetAt(slot);
      const isMeant = its === offset ? isHourly || now === then : offset === now && minutesOf(its) > minutesOf(now);
      return isMeant ? [slot] : [];
    });
  // Expressions such as "L-30 in February" pass the validator and fail only when a slot is asked for.
  nextSlots(SLOTS_TO_PROVE);
  nextSlot();
  return { expression, timezone, nextSlot, nextSlots };
}

/** How far a zone is from UTC at an instant (ms), as `+02:00`. */
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
