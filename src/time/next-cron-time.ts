import { createTask, type ParsedFields, validateDetailed } from 'node-cron';
import { DAY_MS } from './duration.ts';
import { createZone, type OffsetChange } from './zone.ts';

export type Schedule = ReturnType<typeof parseSchedule>;

/** Returns the first time after another one, in ms. */
type Finder = (after: number) => number;

/** No day is rarer than a leap day on a given weekday, which comes again after at most 40 years. */
const LONGEST_SEARCH_MS = 41 * 366 * DAY_MS;

/** The largest values of the fields, which begin with the seconds. */
const LARGEST = [59, 59, 23, 31, 12, 7] as const;
const ANY: readonly string[] = LARGEST.map(() => '*');

const NAME = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat';
const VALUE = `(\\d+|${NAME})`;
/** What may stand between commas. Without this check, node-cron reads `5*` as 50-59, and `janfeb` as 12. */
const PART = new RegExp(`^([*?]|LW?|L-\\d+|${VALUE}(-${VALUE}|[LW]|#\\d)?)(/\\d+)?$`, 'i');

/** Parses a cron expression; throws an Error that says what is wrong. node-cron's timers stall after clock steps. */
export function parseSchedule(text: string, timezone: string) {
  const expression = text.trim().replace(/\s+/g, ' ');
  const fields = expression.split(' ');
  if (fields.length !== 5 && fields.length !== 6)
    throw new Error(`it has ${fields.length} field${fields.length === 1 ? '' : 's'}`);
  const values = parseValues(expression);
  if (fields.length === 5) fields.unshift('0');
  const parts = fields.flatMap((field, index) => field.split(',').map((part) => ({ part, index })));
  for (const { part, index } of parts) checkPart(part, index);

  const isEitherDay = [fields[3], fields[5]].every((field) => !/^[*?]/.test(field ?? ''));
  const findTime = createFinder(timezone, createClockFinder(values, createDayMatcher(fields, isEitherDay)));
  // Some expressions, such as 30W in February, pass the validator and fail only here.
  findTime(Date.now());
  return {
    expression,
    timezone,
    /** The expression in quotes, with a remark if it names days in both ways. */
    label: `"${expression}"${isEitherDay ? ', where either the day of month or the day of week suffices' : ''}`,
    /** Parts such as 0-30/45, of which only the first value counts. */
    longSteps: parts.filter(({ part, index }) => hasLongStep(part, index)).map(({ part }) => part),
    /** The first scheduled time after a timestamp, both in ms. */
    nextTime: (after: number): number => findTime(after),
    /** The first `count` scheduled times after a timestamp, in ms. */
    nextTimes: (count: number, after = Date.now()): readonly number[] => {
      const times: number[] = [];
      while (times.length < count) times.push(findTime(times.at(-1) ?? after));
      return times;
    },
  };
}

function parseValues(expression: string): ParsedFields {
  const { fields, errors } = validateDetailed(expression);
  if (fields !== undefined) return fields;
  // node-cron writes "a invalid expression".
  const why = errors.map(({ message }) => message.replace(' a invalid ', ' an invalid '));
  throw new Error(why.join('; ') || 'it is not a cron expression');
}

function checkPart(part: string, index: number): void {
  // node-cron reads a range such as 60-5, whose first value is too large, as 0-5.
  const [, first = 0] = /^(\d+)-/.exec(part) ?? [];
  if (!PART.test(part) || Number(first) > (LARGEST[index] ?? 0))
    throw new Error(`"${part}" is ambiguous or out of range`);
}

function hasLongStep(part: string, index: number): boolean {
  const [range = '', step] = part.split('/');
  if (step === undefined) return false;
  const named = Object.values(parseValues(ANY.with(index, range).join(' ')))[index];
  return Number(step) > (named?.length ?? 0);
}

/** Returns whether the expression names the UTC date of a timestamp. */
function createDayMatcher(fields: readonly string[], isEitherDay: boolean): (timestamp: number) => boolean {
  const [, , , dayOfMonth, month, dayOfWeek] = fields;
  const patterns = isEitherDay
    ? [`* * * ${dayOfMonth} ${month} *`, `* * * * ${month} ${dayOfWeek}`]
    : [`* * * ${dayOfMonth} ${month} ${dayOfWeek}`];
  const tasks = patterns.map((pattern) => createTask(pattern, () => undefined, { timezone: 'UTC' }));
  let last = { timestamp: Number.NaN, isNamed: false };
  return (timestamp) => {
    // Most schedules name several times of one day.
    if (timestamp !== last.timestamp)
      last = { timestamp, isNamed: tasks.some((task) => task.match(new Date(timestamp))) };
    return last.isNamed;
  };
}

/** Finds what the expression names on a clock that is never changed. Its times are written as timestamps in UTC. */
function createClockFinder(values: ParsedFields, isNamedDay: (timestamp: number) => boolean): Finder {
  const sort = (numbers: readonly number[]) => numbers.toSorted((one, other) => one - other);
  const starts = sort(values.hour).flatMap((hour) => sort(values.minute).map((minute) => (hour * 60 + minute) * 60));
  const seconds = sort(values.second);
  /** Both in seconds since midnight. */
  const findFrom = (earliest: number): number | undefined => {
    const start = starts.find((start) => start + (seconds.at(-1) ?? 0) >= earliest);
    return start === undefined ? undefined : start + (seconds.find((second) => start + second >= earliest) ?? 0);
  };
  const search = (after: number): number => {
    const from = (Math.floor(after / 1_000) + 1) * 1_000;
    for (let day = Math.floor(from / DAY_MS) * DAY_MS; day < after + LONGEST_SEARCH_MS; ) {
      const date = new Date(day);
      const isNamedMonth = values.month.includes(date.getUTCMonth() + 1);
      const time = isNamedMonth && isNamedDay(day) ? findFrom(Math.max(0, from - day) / 1_000) : undefined;
      if (time !== undefined) return day + time * 1_000;
      day = isNamedMonth ? day + DAY_MS : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
    }
    throw new Error('it names no time');
  };
  return remembering(search);
}

/** How many results are remembered: as many as a poll asks for, to tell when its data becomes stale. */
const REMEMBERED = 3;

/** Remembers the last results. A search for a rare day takes milliseconds, and most searches repeat earlier ones. */
function remembering(search: Finder): Finder {
  let results: readonly { readonly after: number; readonly time: number }[] = [];
  return (after) => {
    const known = results.find((result) => after >= result.after && after < result.time);
    const found = known ?? { after, time: search(after) };
    if (known === undefined) results = [found, ...results.slice(0, REMEMBERED - 1)];
    return found.time;
  };
}

/** Finds times in a zone. After a change, the clock as before counts as well: docs/configuration.md says what follows. */
function createFinder(timezone: string, findOnClock: Finder): Finder {
  const { offsetAt, findChange } = createZone(timezone);
  /** The first time from `from` on, by a clock with this offset. */
  const findFrom = (from: number, offset: number): number => findOnClock(from - 1 + offset) - offset;
  /** The first time that counts after a change; `end` or later if there is none before `end`. */
  const findAfterChange = (from: number, end: number, change: OffsetChange): number => {
    const [by, byOld] = [findFrom(from, change.to), findFrom(from, change.from)];
    if (change.to > change.from) return Math.min(by, byOld);
    const later = Math.max(by, byOld);
    return by === byOld || later >= end ? later : findAfterChange(later, end, change);
  };
  return remembering((after) => {
    for (let from = after + 1; ; ) {
      const past = findChange(from - DAY_MS, from);
      const end = past === undefined ? from : past.at + Math.abs(past.to - past.from);
      if (past !== undefined && from < end) {
        const time = findAfterChange(from, end, past);
        if (time < end) return time;
        from = end;
      } else {
        const time = findFrom(from, offsetAt(from));
        const next = findChange(from, time);
        if (next === undefined) return time;
        from = next.at;
      }
    }
  });
}
