import { createTask, validateDetailed } from 'node-cron';

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

  const task = createTask(expression, () => undefined, { timezone });
  const nextSlots = (count: number): readonly number[] => task.getNextRuns(count).map((date) => date.getTime());
  const nextSlot = (): number => {
    const [slot] = nextSlots(1);
    if (slot === undefined || Number.isNaN(slot)) throw new Error('it names no slot');
    return slot;
  };
  // Expressions such as "L-30 in February" pass the validator and fail only when a slot is asked for.
  nextSlots(SLOTS_TO_PROVE);
  nextSlot();
  return { expression, timezone, nextSlot, nextSlots };
}
