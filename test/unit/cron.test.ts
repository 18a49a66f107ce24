import { describe, expect, it } from 'vitest';
import { parseSchedule } from '../../src/time/next-cron-time.ts';

function timesAfter(now: string, expression: string, timezone = 'UTC', count = 3): readonly string[] {
  const times = parseSchedule(expression, timezone).nextTimes(count, Date.parse(now));
  return times.map((time) => new Date(time).toISOString().replace('.000Z', 'Z'));
}

describe('a schedule', () => {
  it.each([
    ['*/5 * * * *', '2026-11-20T12:01:00Z', ['2026-11-20T12:05:00Z', '2026-11-20T12:10:00Z', '2026-11-20T12:15:00Z']],
    ['0 * * * *', '2026-11-20T23:30:00Z', ['2026-11-21T00:00:00Z', '2026-11-21T01:00:00Z', '2026-11-21T02:00:00Z']],
    [
      '*/20 * * * * *',
      '2026-11-20T12:00:01Z',
      ['2026-11-20T12:00:20Z', '2026-11-20T12:00:40Z', '2026-11-20T12:01:00Z'],
    ],
    ['0 0 29 2 *', '2026-11-20T12:00:00Z', ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z', '2036-02-29T00:00:00Z']],
    // The 29th of February is a Monday again after 28 years, and after 40 where a century has no leap day.
    ['0 0 */28 2 1#5', '2072-03-01T00:00:00Z', ['2112-02-29T00:00:00Z']],
    [
      '  30   6 * * 1 ',
      '2026-11-20T12:00:00Z',
      ['2026-11-23T06:30:00Z', '2026-11-30T06:30:00Z', '2026-12-07T06:30:00Z'],
    ],
    ['45,15 22-0/2 * * *', '2026-11-20T22:30:00Z', ['2026-11-20T22:45:00Z', '2026-11-21T00:15:00Z']],
    ['0 9 * * mon-fri', '2026-11-20T09:00:00Z', ['2026-11-23T09:00:00Z', '2026-11-24T09:00:00Z']],
    ['0 0 L dec-jan 7', '2026-12-28T00:00:00Z', ['2026-12-31T00:00:00Z', '2027-01-03T00:00:00Z']],
    ['0 0 LW * *', '2026-10-20T00:00:00Z', ['2026-10-30T00:00:00Z', '2026-11-30T00:00:00Z']],
  ])('"%s" after %s has the right times', (expression, now, times) => {
    expect(timesAfter(now, expression, 'UTC', times.length)).toEqual(times);
  });

  it.each([
    ['a millisecond before a scheduled time', '2026-11-20T11:59:59.999Z', '2026-11-20T12:00:00Z'],
    ['at a scheduled time', '2026-11-20T12:00:00.000Z', '2026-11-20T12:05:00Z'],
    ['a millisecond after a scheduled time', '2026-11-20T12:00:00.001Z', '2026-11-20T12:05:00Z'],
    ['before 1970', '1969-12-31T23:59:30.000Z', '1970-01-01T00:00:00Z'],
  ])('asked %s returns the next time', (_when, now, time) => {
    expect(timesAfter(now, '*/5 * * * *', 'UTC', 1)).toEqual([time]);
  });

  it.each([
    ['either suffices', '30 4 1,15 * 5', '11-27 12-01 12-04 12-11 12-15'],
    ['both are needed, since one begins with *', '30 4 */2 * 5', '11-27 12-11 12-25 01-01 01-15'],
    ['both are needed, since the other begins with *', '30 4 1,15 * */5', '01-01 01-15 08-01 08-15 10-01'],
    ['? is as good as *', '30 4 ? * 5', '11-27 12-04 12-11 12-18 12-25'],
    ['either suffices, but in the named months alone', '30 4 1 1 5', '01-01 01-08 01-15 01-22 01-29'],
  ])('reads the day of month and the day of week as crontab(5) does: %s ("%s")', (_, expression, days) => {
    const times = timesAfter('2026-11-25T00:00:00Z', expression, 'UTC', 5);
    expect(times.map((time) => time.slice(5, 10)).join(' ')).toBe(days);
  });

  // Every kind of change in a dozen zones is compared with a walk over the clock in cron.dst.test.ts.
  it.each<[string, string, string, string, string]>([
    ['skipped: as every run of it', '*/20 2 * * *', 'Europe/Berlin', '2026-03-29T00:15:00Z', '01:00 01:20 01:40 00:00'],
    ['skipped: still so when asked within it', '30 2 * * *', 'Europe/Berlin', '2026-03-29T01:10:00Z', '01:30 00:30'],
    ['repeated: once', '30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', '00:30 01:30'],
    [
      'repeated: twice, since the next hour is named',
      '30 1-3 * * *',
      'Europe/Berlin',
      '2026-10-24T23:00:00Z',
      '23:30 00:30 01:30 02:30 00:30',
    ],
    ['half an hour', '15 * * * *', 'Australia/Lord_Howe', '2026-04-04T13:20:00Z', '14:15 15:45 16:45'],
  ])('has times in an hour that is %s: "%s" in %s after %s', (_, expression, timezone, from, times) => {
    const expected = times.split(' ');
    expect(timesAfter(from, expression, timezone, expected.length).map((time) => time.slice(11, 16))).toEqual(expected);
  });

  it('has the same times for an instant before the last one that it was asked for', () => {
    const { nextTime } = parseSchedule('30 2 25,26 10 *', 'Europe/Berlin');
    // The first answer is found over a change of the clock, and there is one more before it.
    const times = ['2026-10-25T00:45:00Z', '2026-02-01T00:00:00Z'].map((now) => nextTime(Date.parse(now)));
    expect(times).toEqual(['2026-10-26T01:30:00Z', '2026-10-25T00:30:00Z'].map(Date.parse));
  });

  it.each([
    ['*/90 * * * *', ['*/90']],
    ['*/60 */24 */31 */12 */7', []],
    ['*/61 * */25 */32 */13 */8', ['*/61', '*/25', '*/32', '*/13', '*/8']],
    ['0,10-20/12 8-18/4 * * mon-wed/4', ['10-20/12', 'mon-wed/4']],
  ])('"%s" has the steps %j that are longer than their field or range', (expression, parts) => {
    expect(parseSchedule(expression, 'UTC').longSteps).toEqual(parts);
  });

  it.each([
    [''],
    ['* * * *'],
    ['*/0 * * * *'],
    ['0/5 * * * *'],
    ['0 0 30 2 *'],
    // node-cron reads these as 50-59, as 0-5, as 0-3, as December and as Monday.
    ['5* * * * *'],
    ['60-5 * * * *'],
    ['0 24-3 * * *'],
    ['0 0 1 janfeb *'],
  ])('"%s" is rejected', (expression) => {
    expect(() => parseSchedule(expression, 'UTC')).toThrow(Error);
  });

  it('in a sentence without the slip of the library', () => {
    expect(() => parseSchedule('99 * * * *', 'UTC')).toThrow('99 is an invalid expression for minute');
  });
});
