import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseSchedule } from '../../src/time/cron.ts';
import { type Due, runScheduler } from '../../src/worker/scheduler.ts';
import { createTestClock } from '../support/clock.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function clockTime(instant: number): string {
  return new Date(instant).toISOString().slice(11, 19);
}

/** The runs that are due while the clock runs for some hours, with one step. */
async function watchOver(
  expression: string,
  timezone: string,
  from: string,
  hours: number,
  step = { after: 0, by: 0 },
) {
  const clock = createTestClock(Date.parse(from));
  const inTime = <T>(ask: () => T): T => {
    vi.setSystemTime(clock.now());
    return ask();
  };
  const schedule = inTime(() => parseSchedule(expression, timezone));
  const due: string[] = [];
  const onDue = (why: Due): void => {
    due.push(`${why === 'schedule' ? '' : `${why} `}${clockTime(clock.now())}`);
  };
  const stop = new AbortController();
  const watched = { schedule: { ...schedule, nextTime: () => inTime(schedule.nextTime) }, onDue };
  const watching = runScheduler([watched], { clock, onTick: () => undefined }, stop.signal);
  await clock.advance(step.after);
  clock.step(step.by);
  await clock.advance(hours * HOUR - step.after);
  stop.abort();
  await watching;
  return due;
}

describe('scheduled times around a DST change', () => {
  it.each<[string, string, string, string, string]>([
    ['the begin', 'Europe/Berlin', '*/30 * * * *', '2026-03-29T00:15:00Z', '00:30 01:00 01:30 02:00'],
    ['the end', 'Europe/Berlin', '*/30 * * * *', '2026-10-25T00:15:00Z', '00:30 01:00 01:30 02:00'],
    ['the begin', 'America/New_York', '*/30 * * * *', '2026-03-08T06:15:00Z', '06:30 07:00 07:30 08:00'],
    ['the end', 'America/New_York', '*/30 * * * *', '2026-11-01T05:15:00Z', '05:30 06:00 06:30 07:00'],
    ['the begin, once, in the hour left out', 'Europe/Berlin', '30 2 * * *', '2026-03-29T00:15:00Z', '01:30'],
    ['the end, once, in the hour that comes twice', 'Europe/Berlin', '30 2 * * *', '2026-10-25T00:15:00Z', '00:30'],
  ])('%s, in %s ("%s" from %s) each run once, at their time', async (_which, timezone, expression, from, times) => {
    const due = await watchOver(expression, timezone, from, 2);
    expect(due).toEqual(times.split(' ').map((time) => `${time}:00`));
  });

  it('the end, run again if the clock is also set back an hour by hand, and are made up if it is set right', async () => {
    const from = '2026-10-25T01:15:00Z';
    const back = await watchOver('*/30 * * * *', 'Europe/Berlin', from, 1, { after: 20 * MINUTE, by: -HOUR });
    expect(back).toEqual(['01:30:00', '01:00:00']);
    const ahead = await watchOver('*/30 * * * *', 'Europe/Berlin', from, 1, { after: 20 * MINUTE, by: HOUR });
    expect(ahead).toEqual(['01:30:00', 'catch-up 02:35:01', '03:00:00']);
  });
});

describe('the next scheduled time', () => {
  it.each([
    ['Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['Europe/Berlin', '2026-10-25T01:00:00Z'],
    ['America/New_York', '2026-03-08T07:00:00Z'],
    ['America/New_York', '2026-11-01T06:00:00Z'],
    // A DST change of half an hour.
    ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ])('is right to the millisecond in %s around %s', (timezone, change) => {
    const at = Date.parse(change);
    const { nextTime } = parseSchedule('*/30 * * * *', timezone);
    const after = (ms: number): number => {
      vi.setSystemTime(at + ms);
      return nextTime() - at;
    };
    expect([-1, 0, 1].map(after)).toEqual([0, 30 * MINUTE, 30 * MINUTE]);
  });

  /** The next scheduled time at each step of a day around a DST change. */
  function nextTimesSeen(expression: string, timezone: string, from: string, everyMs: number) {
    const { nextTime } = parseSchedule(expression, timezone);
    const begin = Date.parse(from);
    return Array.from({ length: Math.floor((4 * HOUR) / everyMs) }, (_, index) => {
      vi.setSystemTime(begin + index * everyMs);
      return { at: begin + index * everyMs, next: nextTime() };
    });
  }

  it.each([
    ['*/15 * * * *', 'Europe/Berlin', '2026-03-28T23:00:00Z'],
    ['*/15 * * * *', 'Europe/Berlin', '2026-10-24T23:00:00Z'],
    ['0 5 * * *', 'America/New_York', '2026-11-01T04:00:00Z'],
  ])('is the same whenever it is asked for before it comes: "%s" in %s from %s', (expression, timezone, from) => {
    expectSameTimes(nextTimesSeen(expression, timezone, from, 5 * MINUTE));
  });

  // Otherwise a start or a clock step in the hour before would miss the time or find another one.
  it.each([
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T23:00:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24T23:00:00Z'],
    ['30 2 * * *', 'America/New_York', '2026-03-08T05:00:00Z'],
    ['30 1 * * *', 'America/New_York', '2026-11-01T04:00:00Z'],
  ])('in the hour of the change is the same whenever it is asked for: "%s" in %s from %s', (...asked) => {
    expectSameTimes(nextTimesSeen(...asked, 5 * MINUTE));
  });
});

describe('what the operations document promises of summer time', () => {
  it.each([
    ['the first run of the hour left out', '*/20 2 * * *', 'Europe/Berlin', '2026-03-29T00:15:00Z', '01:00'],
    ['no gap for hours 0-23', '30 0-23 * * *', 'Europe/Berlin', '2026-10-25T00:15:00Z', '00:30 01:30'],
    ['west of UTC, too, the first time', '30 1 * * *', 'America/New_York', '2026-11-01T05:15:00Z', '05:30'],
    ['once, as not every hour is named', '30 */2 * * *', 'Europe/Berlin', '2026-10-25T00:15:00Z', '00:30'],
  ])('%s: "%s" in %s from %s', async (_what, expression, timezone, from, times) => {
    const due = await watchOver(expression, timezone, from, 2);
    expect(due).toEqual(times.split(' ').map((time) => `${time}:00`));
  });
});

function expectSameTimes(asked: readonly { readonly at: number; readonly next: number }[]): void {
  const times = [...new Set(asked.map(({ next }) => next))].sort((one, other) => one - other);
  const wrong = asked.filter(({ at, next }) => next !== times.find((any) => any > at));
  expect(wrong.map(({ at, next }) => `${clockTime(at)} names ${new Date(next).toISOString()}`)).toEqual([]);
}
