import { describe, expect, it } from 'vitest';
import { createRetryAfter, readRetryAfter, remainingMs } from '../../src/http/retry-after.ts';
import { createTestClock } from '../support/clock.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/durations.ts';
import { createAnswer } from '../support/unit-answer.ts';

const ASKED_AT = Date.parse('2026-11-20T12:00:00.000Z');

describe('a Retry-After', () => {
  it.each([0, HOUR, -HOUR])('lasts as long as the service asked, though the clock steps by %s ms', async (step) => {
    const clock = createTestClock();
    const retryAfter = createRetryAfter(clock);
    retryAfter.extend(clock.now() + 10 * MINUTE);
    clock.step(step);
    await clock.advance(10 * MINUTE - 1);
    expect(retryAfter.until()).toBe(clock.now() + 1);
    await clock.advance(1);
    expect(retryAfter.until()).toBe(0);
  });

  it('reports each new end, unless a longer one is pending', () => {
    const clock = createTestClock();
    const told: number[] = [];
    const retryAfter = createRetryAfter(clock, 5 * MINUTE, (until) => told.push(until - clock.now()));
    for (const minutes of [4, 6, 5]) retryAfter.extend(clock.now() + minutes * MINUTE);
    expect(told).toEqual([6 * MINUTE]);
    expect(retryAfter.until()).toBe(clock.now() + 6 * MINUTE);
  });

  it('lasts at most a day', () => {
    const clock = createTestClock();
    expect(createRetryAfter(clock, 2 * DAY).until()).toBe(clock.now() + DAY);
  });
});

describe('the rest of a stored Retry-After', () => {
  const recorded = { until: new Date(ASKED_AT + HOUR).toISOString(), askedAt: new Date(ASKED_AT).toISOString() };

  it.each([
    ['is the rest of it', 20 * MINUTE, 40 * MINUTE],
    ['is 0 once it is over', 2 * HOUR, 0],
    ['is its whole length if the clock was set back', -DAY, HOUR],
  ])('%s', (_what, laterMs, leftMs) => {
    expect(remainingMs(recorded, ASKED_AT + laterMs)).toBe(leftMs);
  });

  it('is what its end says if the clock was set back between the start of the run and the answer', () => {
    const askedAt = new Date(ASKED_AT + 2 * HOUR).toISOString();
    expect(remainingMs({ ...recorded, askedAt }, ASKED_AT + 20 * MINUTE)).toBe(40 * MINUTE);
  });

  it('is 0 without one', () => {
    expect(remainingMs(undefined, ASKED_AT)).toBe(0);
  });
});

describe('the header Retry-After', () => {
  it.each<[string, number]>([
    ['0', ASKED_AT],
    [' 120 ', ASKED_AT + 120 * SECOND],
    ['99999999999999999999999999', ASKED_AT + DAY],
    ['Fri, 20 Nov 2026 12:02:00 GMT', ASKED_AT + 120 * SECOND],
    ['Friday, 20-Nov-26 12:02:00 GMT', ASKED_AT + 120 * SECOND],
    ['60, Friday, 20-Nov-26 12:02:00 GMT', ASKED_AT + 120 * SECOND],
    ['Fri, 20 Nov 2026 12:02:00 GMT,60', ASKED_AT + 120 * SECOND],
    ['120, Fri, 20 Nov 2026 11:59:59 GMT, soon', ASKED_AT + 120 * SECOND],
  ])('"%s" is read', (text, instant) => {
    expect(readRetryAfter(createAnswer('{}', { headers: { 'retry-after': text } }), ASKED_AT)).toBe(instant);
  });

  it.each([['soon'], ['1.5'], ['2026-11-20T12:02:00Z'], ['Fri, 20 Nov 2026 11:59:59 GMT']])(
    '"%s" is ignored',
    (text) => {
      expect(readRetryAfter(createAnswer('{}', { headers: { 'retry-after': text } }), ASKED_AT)).toBeUndefined();
    },
  );

  it('may be missing', () => {
    expect(readRetryAfter(createAnswer(), ASKED_AT)).toBeUndefined();
  });

  it('with a date is relative to the clock of the service, so that a wrong local clock does not matter', () => {
    const headers = { 'retry-after': 'Fri, 20 Nov 2026 15:02:00 GMT', date: 'Fri, 20 Nov 2026 15:00:00 GMT' };
    expect(readRetryAfter(createAnswer('{}', { headers }), ASKED_AT)).toBe(ASKED_AT + 120 * SECOND);
  });

  it('with a date is relative to the local clock if the response is from a cache', () => {
    const headers = { 'retry-after': 'Fri, 20 Nov 2026 12:02:00 GMT', date: 'Fri, 20 Nov 2026 09:00:00 GMT', age: '9' };
    expect(readRetryAfter(createAnswer('{}', { headers }), ASKED_AT)).toBe(ASKED_AT + 120 * SECOND);
  });
});
