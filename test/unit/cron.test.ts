import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseSchedule } from '../../src/time/cron.ts';

function timesAfter(now: string, expression: string, timezone = 'UTC', count = 3): readonly string[] {
  vi.setSystemTime(now);
  return parseSchedule(expression, timezone)
    .nextTimes(count)
    .map((time) => new Date(time).toISOString().replace('.000Z', 'Z'));
}

describe('a schedule', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['*/5 * * * *', '2026-11-20T12:01:00Z', ['2026-11-20T12:05:00Z', '2026-11-20T12:10:00Z', '2026-11-20T12:15:00Z']],
    ['0 * * * *', '2026-11-20T23:30:00Z', ['2026-11-21T00:00:00Z', '2026-11-21T01:00:00Z', '2026-11-21T02:00:00Z']],
    [
      '*/20 * * * * *',
      '2026-11-20T12:00:01Z',
      ['2026-11-20T12:00:20Z', '2026-11-20T12:00:40Z', '2026-11-20T12:01:00Z'],
    ],
    ['0 0 29 2 *', '2026-11-20T12:00:00Z', ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z', '2036-02-29T00:00:00Z']],
    [
      '  30   6 * * 1 ',
      '2026-11-20T12:00:00Z',
      ['2026-11-23T06:30:00Z', '2026-11-30T06:30:00Z', '2026-12-07T06:30:00Z'],
    ],
  ])('"%s" after %s has the right times', (expression, now, times) => {
    expect(timesAfter(now, expression)).toEqual(times);
  });

  it.each([
    ['a millisecond before a scheduled time', '2026-11-20T11:59:59.999Z', '2026-11-20T12:00:00Z'],
    ['at a scheduled time', '2026-11-20T12:00:00.000Z', '2026-11-20T12:05:00Z'],
    ['a millisecond after a scheduled time', '2026-11-20T12:00:00.001Z', '2026-11-20T12:05:00Z'],
    ['at the end of a year', '2026-12-31T23:59:00.000Z', '2027-01-01T00:00:00Z'],
  ])('asked %s returns the next time', (_when, now, time) => {
    expect(timesAfter(now, '*/5 * * * *', 'UTC', 1)).toEqual([time]);
  });

  it('follows its time zone', () => {
    expect(timesAfter('2026-11-20T12:00:00Z', '0 9 * * *', 'Asia/Tokyo', 1)).toEqual(['2026-11-21T00:00:00Z']);
    expect(timesAfter('2026-07-01T00:00:00Z', '0 9 * * *', 'Europe/Berlin', 1)).toEqual(['2026-07-01T07:00:00Z']);
    expect(timesAfter('2026-12-01T00:00:00Z', '0 9 * * *', 'Europe/Berlin', 1)).toEqual(['2026-12-01T08:00:00Z']);
  });

  it.each<[string, string, string, string, readonly string[]]>([
    [
      'twice in the hour that comes twice, where every hour has some',
      '*/20 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:50:00Z',
      ['00:00', '00:20', '00:40', '01:00', '01:20', '01:40', '02:00'],
    ],
    ['at each full hour of it', '0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', ['00:00', '01:00', '02:00']],
    ['once in it, where one hour is named', '30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['00:30', '01:30']],
    ['as ever before it', '30 1 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['23:30', '00:30']],
    ['as ever after it', '30 3 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['02:30', '02:30']],
    [
      'in the hour that does not exist, as if it did',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00:00Z',
      ['01:30', '00:30'],
    ],
    [
      'without a gap over it',
      '*/30 * * * *',
      'Europe/Berlin',
      '2026-03-29T00:10:00Z',
      ['00:30', '01:00', '01:30', '02:00'],
    ],
    ['as ever after it', '0 4 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['02:00', '02:00']],
    [
      'where the change is half an hour',
      '15 * * * *',
      'Australia/Lord_Howe',
      '2026-04-04T13:20:00Z',
      ['14:15', '15:45', '16:45'],
    ],
    ['west of UTC', '30 2 * * *', 'America/New_York', '2026-03-08T00:00:00Z', ['07:30', '06:30']],
    [
      'west of UTC, in the hour that comes twice',
      '*/30 * * * *',
      'America/New_York',
      '2026-11-01T05:10:00Z',
      ['05:30', '06:00', '06:30', '07:00'],
    ],
  ])('at a DST change has times %s: "%s" in %s after %s', (_, expression, timezone, from, times) => {
    vi.setSystemTime(from);
    const { nextTime } = parseSchedule(expression, timezone);
    const named = times.map(() => {
      const time = nextTime();
      vi.setSystemTime(time);
      return new Date(time).toISOString().slice(11, 16);
    });
    expect(named).toEqual(times);
  });

  it('has a time every quarter of an hour, in each zone, over a year', () => {
    for (const timezone of ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Africa/Casablanca']) {
      const { nextTime } = parseSchedule('*/15 * * * *', timezone);
      for (let month = 0; month < 12; month += 1) {
        for (let day = 1; day <= 28; day += 1) {
          const at = Date.UTC(2026, month, day, (day * 7) % 24, 1);
          vi.setSystemTime(at);
          expect(nextTime(), `${timezone} ${new Date(at).toISOString()}`).toBe(at + 14 * 60_000);
        }
      }
    }
  });

  it('calculates from now, not from when it was parsed', () => {
    vi.setSystemTime('2026-11-20T12:01:00Z');
    const schedule = parseSchedule('*/5 * * * *', 'UTC');
    vi.setSystemTime('2027-11-20T12:01:00Z');
    expect(schedule.nextTime()).toBe(Date.parse('2027-11-20T12:05:00Z'));
  });

  it('calculates from a timestamp in the past, without weekends', () => {
    vi.setSystemTime('2026-11-22T12:00:00Z');
    const { nthTimeAfter } = parseSchedule('0 9 * * 1-5', 'UTC');
    const times = [1, 2, 3].map((count) =>
      new Date(nthTimeAfter(Date.parse('2026-11-18T09:00:01Z'), count)).toISOString(),
    );
    expect(times).toEqual(['2026-11-19T09:00:00.000Z', '2026-11-20T09:00:00.000Z', '2026-11-23T09:00:00.000Z']);
  });

  it.each([
    [''],
    ['hourly'],
    ['@daily'],
    ['* * * *'],
    ['* * * * * * *'],
    ['60 * * * *'],
    ['* 24 * * *'],
    ['* * 0 * *'],
    ['* * * 13 *'],
    ['*/x * * * *'],
    ['0 0 30 2 *'],
  ])('"%s" is rejected', (expression) => {
    expect(() => parseSchedule(expression, 'UTC')).toThrow(Error);
  });
});
