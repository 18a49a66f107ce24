import { describe, expect, it } from 'vitest';
import { checkSchedule, type Due, runScheduler } from '../../src/worker/scheduler.ts';
import { createTestClock } from '../support/clock.ts';
import { HOUR, MINUTE, YEAR } from '../support/durations.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const NEXT = NOON + 5 * MINUTE;
const every5Minutes = (now: number): number => (Math.floor(now / (5 * MINUTE)) + 1) * 5 * MINUTE;

it.each<[string, number, { due?: Due; next: number }]>([
  ['a millisecond before the scheduled time waits on', NEXT - 1, { next: NEXT }],
  ['at the scheduled time finds it due', NEXT, { due: 'schedule', next: NEXT + 5 * MINUTE }],
  ['late by exactly the tolerance still finds it due', NEXT + 2_000, { due: 'schedule', next: NEXT + 5 * MINUTE }],
  ['later than the tolerance makes it up', NEXT + 2_001, { due: 'catch-up', next: NEXT + 5 * MINUTE }],
  [
    'after a missed run and the next one makes up once',
    NEXT + 7 * MINUTE,
    { due: 'catch-up', next: NEXT + 10 * MINUTE },
  ],
  ['a year ahead makes up once', NOON + YEAR, { due: 'catch-up', next: NOON + YEAR + 5 * MINUTE }],
  ['an hour back finds a new scheduled time', NOON - HOUR, { next: NOON - HOUR + 5 * MINUTE }],
  ['a small step back keeps the scheduled time', NOON - 2_000, { next: NEXT }],
  ['a step back beyond that computes the scheduled time again', NOON - 2_001, { next: NOON }],
])('a check of the schedule %s', (_sentence, now, { due, next }) => {
  const found = checkSchedule({ next: NEXT, lastCheck: NOON }, now, () => every5Minutes(now));
  expect(found).toEqual({ state: { next, lastCheck: now }, ...(due === undefined ? {} : { due }) });
});

describe('scheduled runs', () => {
  function watch() {
    const clock = createTestClock(NOON + 1);
    const stop = new AbortController();
    const seen: string[] = [];
    let looks = 0;
    const watched = (name: string, timeAfter: (now: number) => number) => ({
      schedule: { nextTime: (now = clock.now()) => timeAfter(now) },
      onDue: (due: Due) => seen.push(`${name} ${due} ${new Date(clock.now()).toISOString().slice(11, 23)}`),
    });
    const onTick = () => {
      looks += 1;
    };
    const everyHour = (now: number): number => (Math.floor(now / HOUR) + 1) * HOUR;
    const watching = runScheduler(
      [watched('leagues', every5Minutes), watched('profile', everyHour)],
      { clock, onTick },
      stop.signal,
    );
    return { clock, seen, looks: () => looks, stop: () => stop.abort(), watching };
  }

  it('are each started once, the leagues before the profile', async () => {
    const { clock, seen, stop, watching } = watch();
    await clock.advance(HOUR);
    expect(seen).toHaveLength(13);
    expect(seen.slice(0, 2)).toEqual(['leagues schedule 12:05:00.000', 'leagues schedule 12:10:00.000']);
    expect(seen.slice(-2)).toEqual(['leagues schedule 13:00:00.000', 'profile schedule 13:00:00.000']);
    stop();
    await watching;
  });

  it('are checked every second until the stop', async () => {
    const { clock, looks, stop, watching } = watch();
    await clock.advance(MINUTE);
    expect(looks()).toBeGreaterThanOrEqual(60);
    stop();
    await watching;
    const last = looks();
    await clock.advance(MINUTE);
    expect(looks()).toBe(last);
  });
});
