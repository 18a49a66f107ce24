import { describe, expect, it } from 'vitest';
import { createRetryAfter, readRetryAfter, remainingMs } from '../../src/service/retry-after.ts';
import { createTestClock } from '../support/clock.ts';
import { createAnswer } from '../support/unit-answer.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ASKED_AT = Date.parse('2026-11-20T12:00:00.000Z');

describe('a pause', () => {
  it.each([0, HOUR, -HOUR])('lasts as long as the service asked, though the clock steps by %s ms', async (step) => {
    const clock = createTestClock();
    const pause = createRetryAfter(clock);
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
    const pause = createRetryAfter(clock, 5 * MINUTE, (until) => told.push(until - clock.now()));
    for (const minutes of [4, 6, 5]) pause.extend(clock.now() + minutes * MINUTE);
    expect(told).toEqual([6 * MINUTE]);
    expect(pause.until()).toBe(clock.now() + 6 * MINUTE);
  });

  it('lasts a day at most', () => {
    const clock = createTestClock();
    expect(createRetryAfter(clock, 2 * DAY).until()).toBe(clock.now() + DAY);
  });
});

describe('what is left of a pause that was written down', () => {
  const recorded = { until: new Date(ASKED_AT + HOUR).toISOString(), askedAt: new Date(ASKED_AT).toISOString() };

  it.each([
    ['is the rest of it', 20 * MINUTE, 40 * MINUTE],
    ['is nothing once it is over', 2 * HOUR, 0],
    ['is the whole of it where the clock was set back since', -DAY, HOUR],
  ])('%s', (_what, laterMs, leftMs) => {
    expect(remainingMs(recorded, ASKED_AT + laterMs)).toBe(leftMs);
  });

  it('is nothing where there was none', () => {
    expect(remainingMs(undefined, ASKED_AT)).toBe(0);
  });
});

describe('the Retry-After of an answer', () => {
  it.each<[string, number]>([
    ['0', ASKED_AT],
    ['120', ASKED_AT + 120 * SECOND],
    [' 120 ', ASKED_AT + 120 * SECOND],
    ['86400', ASKED_AT + DAY],
    ['86401', ASKED_AT + DAY],
    ['99999999999999999999999999', ASKED_AT + DAY],
    ['Fri, 20 Nov 2026 12:02:00 GMT', ASKED_AT + 120 * SECOND],
    ['Fri, 20 Nov 2026 12:00:00 GMT', ASKED_AT],
    ['Fri, 01 Jan 2100 00:00:00 GMT', ASKED_AT + DAY],
    ['Friday, 20-Nov-26 12:02:00 GMT', ASKED_AT + 120 * SECOND],
    ['Fri Nov 20 12:02:00 2026', ASKED_AT + 120 * SECOND],
    ['60, 120', ASKED_AT + 120 * SECOND],
    ['120,60', ASKED_AT + 120 * SECOND],
  ])('of "%s" is an instant', (text, instant) => {
    expect(readRetryAfter(createAnswer('{}', { headers: { 'retry-after': text } }), ASKED_AT)).toBe(instant);
  });

  it.each([
    [''],
    ['soon'],
    ['-1'],
    ['1.5'],
    ['1e3'],
    ['0x10'],
    ['2026-11-20T12:02:00Z'],
    ['Fri, 20 Nov 2026 12:02:00 CET'],
    ['Fri, 20 Nov 2026 11:59:59 GMT'],
    ['Fri, 99 Nov 2026 12:02:00 GMT'],
    ['Fri, 31 Nov 2026 12:02:00 GMT'],
    ['Friday, 20-Nov-86 12:02:00 GMT'],
    ['Fri Nov 20 12:02:00 CET 2026'],
    ['60, soon'],
  ])('of "%s" is as good as none', (text) => {
    expect(readRetryAfter(createAnswer('{}', { headers: { 'retry-after': text } }), ASKED_AT)).toBeUndefined();
  });

  it.each([
    ['Fri, 20 Nov 2026 12:02:00 GMT\nFri, 20 Nov 2026 12:01:00 GMT', 120],
    ['60\nFri, 20 Nov 2026 12:02:00 GMT', 120],
    ['Fri, 20 Nov 2026 12:01:00 GMT\n120', 120],
    ['soon\n120', 120],
  ])('that was sent more than once is the longest: %j', (text, seconds) => {
    const answer = createAnswer('{}', { headers: { 'retry-after': text } });
    expect(readRetryAfter(answer, ASKED_AT)).toBe(ASKED_AT + seconds * SECOND);
  });

  it('that is not there is none', () => {
    expect(readRetryAfter(createAnswer(), ASKED_AT)).toBeUndefined();
  });

  it('as a date is counted from the clock of the service, so that a wrong local clock does not matter', () => {
    const headers = { 'retry-after': 'Fri, 20 Nov 2026 15:02:00 GMT', date: 'Fri, 20 Nov 2026 15:00:00 GMT' };
    expect(readRetryAfter(createAnswer('{}', { headers }), ASKED_AT)).toBe(ASKED_AT + 120 * SECOND);
  });

  it('as a date is counted from the local clock where a cache answered', () => {
    const headers = { 'retry-after': 'Fri, 20 Nov 2026 12:02:00 GMT', date: 'Fri, 20 Nov 2026 09:00:00 GMT', age: '9' };
    expect(readRetryAfter(createAnswer('{}', { headers }), ASKED_AT)).toBe(ASKED_AT + 120 * SECOND);
  });
});
