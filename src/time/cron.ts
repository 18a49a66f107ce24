import { createTask, type ScheduledTask, validateDetailed } from 'node-cron';

export type Schedule = ReturnType<typeof parseSchedule>;

/** `existsInZone` checks whether a time is among this many next runs at a UTC offset. */
const RUNS_BEFORE_CHANGE = 64;

/**
 * Parses a cron expression of 5 fields, or of 6 with seconds first. If the expression is invalid, throws an Error that
 * says why. The timers of node-cron are not used: after a clock step, they stall or fire in a tight loop.
 */
export function parseSchedule(text: string, timezone: string) {
  const expression = text.trim().replace(/\s+/g, ' ');
  const fields = expression.split(' ').length;
  if (fields !== 5 && fields !== 6) throw new Error(`it has ${fields} field${fields === 1 ? '' : 's'}`);
  const { valid, errors } = validateDetailed(expression);
  if (!valid) throw new Error(errors.map((error) => error.message).join('; ') || 'it is not a cron expression');

  const tasks = new Map<string, ScheduledTask>();
  const nextTimesIn: NextTimesIn = (zone, count) => {
    const task = tasks.get(zone) ?? createTask(expression, () => undefined, { timezone: zone });
    tasks.set(zone, task);
    return task.getNextRuns(count).map((date) => date.getTime());
  };
  const findNextTime = createFinder(timezone, nextTimesIn);
  let cached: { readonly now: number; readonly time: number } | undefined;
  /** The first scheduled time after now, in ms. */
  const nextTime = (): number => {
    const now = Date.now();
    // Cached, since the status page and the metrics call this too, and near a DST change the search takes milliseconds.
    if (cached === undefined || now < cached.now || now >= cached.time) cached = { now, time: findNextTime(now) };
    return cached.time;
  };
  // Some expressions, such as 30 February, pass the validator and fail only here.
  nextTime();
  return {
    expression,
    timezone,
    nextTime,
    /** The first `count` scheduled times after now, in ms. Near a DST change, some may be missing. */
    nextTimes: (count: number): readonly number[] => nextTimesIn(timezone, count),
    /** The `count`th scheduled time after a timestamp, both in ms. */
    nthTimeAfter: (timestamp: number, count: number): number => {
      // Uses `timeMatcher`, which the types of node-cron lack, because getNextRuns always starts from now.
      const { timeMatcher } = tasks.get(timezone) as ScheduledTask & { readonly timeMatcher: Matcher };
      let time = new Date(timestamp);
      for (let found = 0; found < count; found += 1) time = timeMatcher.getNextMatch(time);
      return time.getTime();
    },
  };
}

type Matcher = { readonly getNextMatch: (after: Date) => Date };

/** The next `count` times of an expression in a time zone, or at an offset from UTC such as `+02:00`. */
type NextTimesIn = (zone: string, count: number) => readonly number[];

/**
 * When a DST change skips an hour, node-cron finds no runs in that hour. When a DST change repeats an hour, node-cron
 * finds runs in only one of the two hours. So the next run is also calculated as if the UTC offset never changed.
 */
function createFinder(timezone: string, nextTimesIn: NextTimesIn): (now: number) => number {
  const offsetAt = createOffsets(timezone);
  /**
   * Whether `time`, which was calculated at the fixed `offset`, is a run in the zone. It is a run if the zone has that
   * offset at `time`, if a DST change skips the local time, or if the expression gives `time` at the actual offset.
   */
  const existsInZone = (time: number, offset: string): boolean => {
    const actual = offsetAt(time);
    const isSkipped = (): boolean => offsetAt(time - (minutesOf(actual) - minutesOf(offset)) * 60_000) === offset;
    return actual === offset || isSkipped() || nextTimesIn(actual, RUNS_BEFORE_CHANGE).includes(time);
  };
  return (now) => {
    const [time] = nextTimesIn(timezone, 1);
    if (time === undefined || Number.isNaN(time)) throw new Error('it names no time');
    const offset = offsetAt(now);
    const [fixed = time] = nextTimesIn(offset, 1);
    return fixed < time && existsInZone(fixed, offset) ? fixed : time;
  };
}

/** Returns a function that finds the UTC offset of the zone, such as `+02:00`, at a timestamp (ms). */
function createOffsets(timezone: string): (timestamp: number) => string {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' });
  return (timestamp) => /[+-]\d\d:\d\d/.exec(format.format(timestamp))?.[0] ?? '+00:00';
}

function minutesOf(offset: string): number {
  const [hours = 0, minutes = 0] = offset.split(':').map(Number);
  return hours * 60 + (offset.startsWith('-') ? -minutes : minutes);
}
