import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseSchedule } from '../../src/cron.ts';

function slotsAfter(now: string, expression: string, timezone = 'UTC', count = 3): readonly string[] {
  vi.setSystemTime(now);
  return parseSchedule(expression, timezone)
    .nextSlots(count)
    .map((slot) => new Date(slot).toISOString().replace('.000Z', 'Z'));
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
  ])('"%s" after %s names the right slots', (expression, now, slots) => {
    expect(slotsAfter(now, expression)).toEqual(slots);
  });

  it.each([
    ['a millisecond before a slot', '2026-11-20T11:59:59.999Z', '2026-11-20T12:00:00Z'],
    ['at a slot', '2026-11-20T12:00:00.000Z', '2026-11-20T12:05:00Z'],
    ['a millisecond after a slot', '2026-11-20T12:00:00.001Z', '2026-11-20T12:05:00Z'],
    ['at the end of a year', '2026-12-31T23:59:00.000Z', '2027-01-01T00:00:00Z'],
  ])('asked %s names the next one', (_when, now, slot) => {
    expect(slotsAfter(now, '*/5 * * * *', 'UTC', 1)).toEqual([slot]);
  });

  it('follows its time zone', () => {
    expect(slotsAfter('2026-11-20T12:00:00Z', '0 9 * * *', 'Asia/Tokyo', 1)).toEqual(['2026-11-21T00:00:00Z']);
    expect(slotsAfter('2026-07-01T00:00:00Z', '0 9 * * *', 'Europe/Berlin', 1)).toEqual(['2026-07-01T07:00:00Z']);
    expect(slotsAfter('2026-12-01T00:00:00Z', '0 9 * * *', 'Europe/Berlin', 1)).toEqual(['2026-12-01T08:00:00Z']);
  });

  it('names slots after the moment it is asked, not the moment it was made', () => {
    vi.setSystemTime('2026-11-20T12:01:00Z');
    const schedule = parseSchedule('*/5 * * * *', 'UTC');
    vi.setSystemTime('2027-11-20T12:01:00Z');
    expect(schedule.nextSlot()).toBe(Date.parse('2027-11-20T12:05:00Z'));
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
  ])('"%s" is refused', (expression) => {
    expect(() => parseSchedule(expression, 'UTC')).toThrow(Error);
  });
});
