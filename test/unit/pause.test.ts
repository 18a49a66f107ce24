import { describe, expect, it } from 'vitest';
import { createPause, msLeftOf } from '../../src/service/pause.ts';
import { createTestClock } from '../support/clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ASKED_AT = Date.parse('2026-11-20T12:00:00.000Z');

describe('a pause', () => {
  it.each([0, HOUR, -HOUR])('lasts as long as the service asked, though the clock steps by %s ms', async (step) => {
    const clock = createTestClock();
    const pause = createPause(clock);
    pause.extend(clock.now() + 10 * MINUTE);
    clock.step(step);
    await clock.advance(10 * MINUTE - 1);
    expect(pause.until()).toBe(clock.now() + 1);
    await clock.advance(1);
    expect(pause.until()).toBe(0);
  });

  it('is told of when it is asked for, unless a longer one is on', () => {
    const clock = createTestClock();
    const told: number[] = [];
    const pause = createPause(clock, 5 * MINUTE, (until) => told.push(until - clock.now()));
    for (const minutes of [4, 6, 5]) pause.extend(clock.now() + minutes * MINUTE);
    expect(told).toEqual([6 * MINUTE]);
    expect(pause.until()).toBe(clock.now() + 6 * MINUTE);
  });

  it('lasts a day at most', () => {
    const clock = createTestClock();
    expect(createPause(clock, 2 * DAY).until()).toBe(clock.now() + DAY);
  });
});

describe('what is left of a pause that was written down', () => {
  const recorded = { until: new Date(ASKED_AT + HOUR).toISOString(), askedAt: new Date(ASKED_AT).toISOString() };

  it.each([
    ['is the rest of it', 20 * MINUTE, 40 * MINUTE],
    ['is nothing once it is over', 2 * HOUR, 0],
    ['is the whole of it where the clock was set back since', -DAY, HOUR],
  ])('%s', (_what, laterMs, leftMs) => {
    expect(msLeftOf(recorded, ASKED_AT + laterMs)).toBe(leftMs);
  });

  it('is nothing where there was none', () => {
    expect(msLeftOf(undefined, ASKED_AT)).toBe(0);
  });
});
