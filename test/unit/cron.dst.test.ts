import { expect, it } from 'vitest';
import { describeSchedule } from '../../src/check/check.ts';
import { staleAt } from '../../src/sync/stale-at.ts';
import { parseSchedule, type Schedule } from '../../src/time/next-cron-time.ts';
import { checkSchedule, type Due, runScheduler } from '../../src/worker/scheduler.ts';
import { createTestClock } from '../support/clock.ts';
import { DAY, HOUR, MINUTE } from '../support/durations.ts';

/** The runs that are due while the clock runs for an hour, with one step after 20 minutes. */
async function watchOver(expression: string, timezone: string, from: string, step = 0) {
  const clock = createTestClock(Date.parse(from));
  const due: string[] = [];
  const onDue = (why: Due): void => {
    const time = new Date(clock.now()).toISOString().slice(11, 19);
    due.push(`${why === 'schedule' ? '' : `${why} `}${time}`);
  };
  const stop = new AbortController();
  const jobs = [{ schedule: parseSchedule(expression, timezone), onDue }];
  const watching = runScheduler(jobs, { clock, onTick: () => undefined }, stop.signal);
  await clock.advance(20 * MINUTE);
  clock.step(step);
  await clock.advance(40 * MINUTE);
  stop.abort();
  await watching;
  return due;
}

it('scheduled times around a DST change run again if the clock is also set back, and are made up if it is set right', async () => {
  const watch = (step: number) => watchOver('*/30 * * * *', 'Europe/Berlin', '2026-10-25T01:15:00Z', step);
  expect(await watch(0)).toEqual(['01:30:00', '02:00:00']);
  expect(await watch(-HOUR)).toEqual(['01:30:00', '01:00:00']);
  expect(await watch(HOUR)).toEqual(['01:30:00', 'catch-up 02:35:01', '03:00:00']);
});

const ZONES = `Europe/Berlin Atlantic/Azores America/New_York America/St_Johns America/Havana America/Santiago
  Africa/Casablanca Africa/Cairo Asia/Beirut Australia/Lord_Howe Pacific/Chatham Antarctica/Troll`.split(/\s+/);

/** The days around a change in which these are compared. */
const SCHEDULES: readonly (readonly [number, readonly string[]])[] = [
  [
    4,
    [
      ...['* * * * *', '*/5 * * * *', '*/7 * * * *', '*/15 * * * *', '*/20 * * * *', '*/30 * * * *', '0 * * * *'],
      ...['15 * * * *', '45 * * * *', '59 * * * *', '7,37 * * * *', '0 */2 * * *', '30 */2 * * *', '30 1-3 * * *'],
      ...['0 1,2,3 * * *', '*/20 0-3 * * *', '0-10 1-4 * * *', '*/10 0-2,22-23 * * *', '0 0-22 * * *', '30 0-23 * * *'],
    ],
  ],
  [
    8,
    [
      ...['30 2 * * *', '0 2 * * *', '0 3 * * *', '30 1 * * *', '30 3 * * *', '*/20 2 * * *', '0 0 * * *'],
      ...['30 0 * * *', '59 23 * * *', '15 0,12 * * *', '30 2 * 3,4,10,11 *', '30 23 * * *'],
    ],
  ],
  [
    50,
    [
      ...['30 2 * * 0', '0 1 * * 6,0', '30 0 * * 1-5', '0 0 1 * *', '30 2 25-31 * 0', '30 4 1,15 * 5'],
      ...['0 2 * 3,10 0', '30 1 */2 * 0'],
    ],
  ],
];

/** What the scheduler, which begins a few times before the change, finds due. */
function walkOfScheduler({ nextTime }: Schedule, begin: number, count: number): readonly number[] {
  let state = { next: nextTime(begin), lastCheck: begin };
  return Array.from({ length: count }, () => {
    const { next } = state;
    state = checkSchedule(state, next, nextTime).state;
    return next;
  });
}

/** The polls that `check` lists; a time without a date is of the day before it. */
function pollsOfCheck(schedule: Schedule, now: number): readonly number[] {
  const { message } = describeSchedule({ schedule, profileSchedule: 'off' }, now);
  let day = '';
  return [...message.matchAll(/(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d)[, ]/g)].map(([, date = day, time]) => {
    day = date;
    return Date.parse(`${date}T${time}Z`);
  });
}

/** When the schedule is asked, from the change on. Each case takes two of them; with TEST_ALL all. */
const ASKED = [-25 * HOUR, -2 * HOUR, -29 * MINUTE, -1, 0, MINUTE, 31 * MINUTE, 61 * MINUTE, 25 * HOUR];
const ASKED_AT_ONCE = process.env.TEST_ALL === '1' ? ASKED.length : 2;

it.each(ZONES)(
  'the scheduler, stale_at and check find in %s what a walk over the clock finds around each change of 2026',
  (zone) => {
    const changes = changesOf(zone, 2026, 2027);
    const cases = SCHEDULES.flatMap(([days, expressions]) => expressions.map((expression) => ({ days, expression })));
    const wrong: string[] = [];
    let compared = 0;
    for (const [index, { days, expression }] of cases.entries()) {
      const schedule = parseSchedule(expression, zone);
      for (const change of changes) {
        const times = walk(expression, change, days);
        const compare = (what: string, found: readonly number[], expected: readonly number[]): void => {
          compared += 1;
          if (String(found.slice(0, expected.length)) === String(expected)) return;
          const [first = 0] = found.filter((time, nth) => time !== expected[nth]);
          wrong.push(
            `${what}: "${expression}" around ${new Date(change.at).toISOString()}: ${new Date(first).toISOString()}`,
          );
        };
        const begin = Math.max(1, times.findIndex((time) => time >= change.at) - 3);
        compare('scheduler', walkOfScheduler(schedule, times[begin - 1] ?? 0, 9), times.slice(begin, begin + 9));
        for (let nth = 0; nth < ASKED_AT_ONCE; nth += 1) {
          const asked = change.at + (ASKED[(index + 4 * nth) % ASKED.length] ?? 0);
          const next = times.filter((time) => time > asked).slice(0, 5);
          compare('check', pollsOfCheck(schedule, asked), next);
          const stale = staleAt({ schedule, runTimeoutMs: 0, staleAfterMs: undefined }, asked);
          compare('stale_at', [Date.parse(stale)], next.slice(2, 3));
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(cases.length * 5);
  },
);

it('check says how days are read, and shows the polls of a skipped hour', () => {
  const now = Date.parse('2026-03-28T22:00:00Z');
  const schedule = parseSchedule('30 2 * * *', 'Europe/Berlin');
  const profileSchedule = parseSchedule('0 0 1,15 * 5', 'Europe/Berlin');
  expect(describeSchedule({ schedule, profileSchedule }, now).message).toBe(
    'due at 2026-03-29 01:30, 2026-03-30 00:30, 2026-03-31 00:30, 2026-04-01 00:30, 2026-04-02 00:30 UTC ' +
      '("30 2 * * *", Europe/Berlin); profile "0 0 1,15 * 5", where either the day of month or the day of week suffices',
  );
});

/** From `at` on (ms), the clock is `after` ms ahead of UTC; before it was `before`. */
type Change = { readonly at: number; readonly before: number; readonly after: number };

/** The changes of a zone's clock from the begin of one year to that of another. */
function changesOf(timezone: string, fromYear: number, toYear: number): readonly Change[] {
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
 * days, hours and minutes on the clock: days as in crontab(5), changes as in docs/configuration.md.
 */
function walk(expression: string, { at, before, after }: Change, days: number): readonly number[] {
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
