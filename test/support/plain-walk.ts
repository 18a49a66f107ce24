const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** From `at` on (ms), the clock is `after` ms ahead of UTC; before it was `before`. */
export type Change = { readonly at: number; readonly before: number; readonly after: number };

/** The changes of a zone's clock from the begin of one year to that of another. */
export function changesOf(timezone: string, fromYear: number, toYear: number): readonly Change[] {
  const format = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' });
  const offsetAt = (at: number): number => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at;
  const changes: Change[] = [];
  for (let day = Date.UTC(fromYear, 0); day < Date.UTC(toYear, 0); day += DAY) {
    const [before, after] = [offsetAt(day), offsetAt(day + DAY)];
    let at = day;
    while (before !== after && offsetAt(at) === before) at += MINUTE;
    if (before !== after) changes.push({ at, before, after });
  }
  return changes;
}

/**
 * What a cron expression of 5 fields names in the `days` days around a change of the clock, in order. Walks through the
 * days, hours and minutes on the clock: days as in crontab(5), changes as in docs/operations.md.
 */
export function walk(expression: string, { at, before, after }: Change, days: number): readonly number[] {
  const [minutes, hours, dates, months, weekdays] = expression.split(' ').map((field, index) => valuesOf(field, index));
  const [, , dateField = '', , weekdayField = ''] = expression.split(' ');
  const isEither = !dateField.startsWith('*') && !weekdayField.startsWith('*');
  const isNamedDay = (day: Date): boolean => {
    const [date, weekday] = [dates?.has(day.getUTCDate()), weekdays?.has(day.getUTCDay())];
    return months?.has(day.getUTCMonth() + 1) === true && (isEither ? date || weekday : date && weekday) === true;
  };
  const isNamed = (time: number): boolean => {
    const clock = new Date(time);
    return (
      isNamedDay(clock) && hours?.has(clock.getUTCHours()) === true && minutes?.has(clock.getUTCMinutes()) === true
    );
  };
  const found = new Set<number>();
  const first = Math.floor((at + before) / DAY - days / 2) * DAY;
  for (let day = first; day < first + days * DAY; day += DAY)
    for (const hour of isNamedDay(new Date(day)) ? (hours ?? []) : [])
      for (const minute of minutes ?? []) {
        const time = day + hour * HOUR + minute * MINUTE;
        const [old, now] = [time - before, time - after];
        // Before the change, or in what it leaves out, or the first time that it comes.
        if (old < at || now < at) found.add(old);
        // After the change; a second time only if the schedule goes on for as long as the clock was put back.
        else found.add(now);
        if (old < at && now >= at && isNamed(time + before - after)) found.add(now);
      }
  return [...found].sort((one, other) => one - other);
}

const FIRST = [0, 0, 1, 1, 0] as const;
const LAST = [59, 23, 31, 12, 6] as const;

function valuesOf(field: string, index: number): ReadonlySet<number> {
  const values = field.split(',').flatMap((part) => {
    const [range = '', step = '1'] = part.split('/');
    const [first, last = first] = range === '*' ? [FIRST[index] ?? 0, LAST[index] ?? 0] : range.split('-').map(Number);
    return Array.from({ length: (last ?? 0) - (first ?? 0) + 1 }, (_, nth) => (first ?? 0) + nth).filter(
      (value) => (value - (first ?? 0)) % Number(step) === 0,
    );
  });
  return new Set(index === 4 ? values.map((value) => value % 7) : values);
}
