import { describe, expect, it } from 'vitest';
import { type Due, look, watchSlots } from '../../src/worker/schedule.ts';
import { createTestClock } from '../support/clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;
const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const SLOT = NOON + 5 * MINUTE;
const every5Minutes = (now: number): number => (Math.floor(now / (5 * MINUTE)) + 1) * 5 * MINUTE;

describe('a look at the clock', () => {
  it.each<[string, number, { due?: Due; next: number }]>([
    ['a millisecond before the slot waits on', SLOT - 1, { next: SLOT }],
    ['at the slot finds it due', SLOT, { due: 'schedule', next: SLOT + 5 * MINUTE }],
    ['late by exactly the tolerance still finds it due', SLOT + 2_000, { due: 'schedule', next: SLOT + 5 * MINUTE }],
    ['later than the tolerance makes it up', SLOT + 2_001, { due: 'catch-up', next: SLOT + 5 * MINUTE }],
    [
      'after a missed slot and the next one makes up once',
      SLOT + 7 * MINUTE,
      { due: 'catch-up', next: SLOT + 10 * MINUTE },
    ],
    ['a year ahead makes up once', NOON + YEAR, { due: 'catch-up', next: NOON + YEAR + 5 * MINUTE }],
    ['an hour back finds a new slot', NOON - HOUR, { next: NOON - HOUR + 5 * MINUTE }],
    ['a small step back keeps the slot', NOON - 2_000, { next: SLOT }],
    ['a step back beyond that finds the slot anew', NOON - 2_001, { next: NOON }],
  ])('%s', (_sentence, now, { due, next }) => {
    const found = look({ next: SLOT, seen: NOON }, now, () => every5Minutes(now));
    expect(found).toEqual({ watch: { next, seen: now }, ...(due === undefined ? {} : { due }) });
  });

  it('after one that found a slot due does not find it again', () => {
    const first = look({ next: SLOT, seen: NOON }, SLOT, () => every5Minutes(SLOT));
    expect(look(first.watch, SLOT, () => every5Minutes(SLOT)).due).toBeUndefined();
  });
});

describe('watched slots', () => {
  function watch() {
    const clock = createTestClock(NOON + 1);
    const stop = new AbortController();
    const seen: string[] = [];
    let looks = 0;
    const watched = (name: string, slotAfter: (now: number) => number) => ({
      schedule: {
        expression: '',
        timezone: 'UTC',
        nextSlot: () => slotAfter(clock.now()),
        nextSlots: () => [],
        slotAfter: () => 0,
      },
      onDue: (due: Due) => seen.push(`${name} ${due} ${new Date(clock.now()).toISOString().slice(11, 19)}`),
    });
    const onLook = () => {
      looks += 1;
    };
    const everyHour = (now: number): number => (Math.floor(now / HOUR) + 1) * HOUR;
    const watching = watchSlots(
      [watched('leagues', every5Minutes), watched('profile', everyHour)],
      { clock, onLook },
      stop.signal,
    );
    return { clock, seen, looks: () => looks, stop: () => stop.abort(), watching };
  }

  it('are each met once, leagues before the profile', async () => {
    const { clock, seen, stop, watching } = watch();
    await clock.advance(HOUR);
    expect(seen).toHaveLength(13);
    expect(seen.slice(0, 2)).toEqual(['leagues schedule 12:05:00', 'leagues schedule 12:10:00']);
    expect(seen.slice(-2)).toEqual(['leagues schedule 13:00:00', 'profile schedule 13:00:00']);
    stop();
    await watching;
  });

  it('that pass while the machine sleeps are made up once, within a second of waking', async () => {
    const { clock, seen, stop, watching } = watch();
    await clock.advance(MINUTE);
    clock.step(8 * HOUR);
    await clock.advance(1_000);
    expect(seen).toEqual(['leagues catch-up 20:01:01', 'profile catch-up 20:01:01']);
    await clock.advance(5 * MINUTE);
    expect(seen.slice(2)).toEqual(['leagues schedule 20:05:00']);
    stop();
    await watching;
  });

  it('are found anew when the clock steps an hour back', async () => {
    const { clock, seen, stop, watching } = watch();
    await clock.advance(MINUTE);
    clock.step(-HOUR);
    await clock.advance(5 * MINUTE);
    expect(seen).toEqual(['leagues schedule 11:05:00']);
    stop();
    await watching;
  });

  it('are looked at every second until they are told to stop', async () => {
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
