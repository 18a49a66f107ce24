import { describe, expect, it } from 'vitest';
import type { Token } from '../../src/service/token-expiry.ts';
import { hasExpired, hasExpiredOnArrival, msUntilDue } from '../../src/service/token-expiry.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { DAY, HOUR, MINUTE, SECOND, YEAR } from '../support/durations.ts';

const LEEWAY = 5 * MINUTE;

function issue(clock: TestClock, lifetimeMs: number | undefined, loginDurationMs = 0): Token {
  const sentAt = { wall: clock.now(), monotonic: clock.monotonic() };
  return { accessToken: 'token', sentAt, loginDurationMs, lifetimeMs, expiresAt: undefined, clockSkewMs: undefined };
}

describe('a token', () => {
  it.each<[string, number | undefined, number, number]>([
    ['of an hour falls due a leeway before its end', HOUR, LEEWAY, 55 * MINUTE],
    ['of an hour falls due after two thirds with a long leeway', HOUR, HOUR, 40 * MINUTE],
    ['of exactly three leeways falls due after two of them', 15 * MINUTE, LEEWAY, 10 * MINUTE],
    ['of six seconds falls due after four', 6 * SECOND, LEEWAY, 4 * SECOND],
    ['of sixty days falls due a leeway before its end', 60 * DAY, LEEWAY, 60 * DAY - LEEWAY],
    ['falls due at its end without a leeway', HOUR, 0, HOUR],
    ['of unknown life falls due after half an hour', undefined, LEEWAY, 30 * MINUTE],
  ])('%s', (_sentence, life, leewayMs, dueMs) => {
    const clock = createTestClock();
    expect(msUntilDue(issue(clock, life), clock, leewayMs, 0)).toBe(dueMs);
  });

  it.each([
    [1, 10 * SECOND],
    [2, 20 * SECOND],
    [5, 160 * SECOND],
    [6, 300 * SECOND],
    [1_000, 300 * SECOND],
  ])('that is the %dth in a row to have expired on arrival is renewed after %d ms', (expiredOnArrival, dueMs) => {
    const clock = createTestClock();
    expect(msUntilDue(issue(clock, -DAY), clock, LEEWAY, expiredOnArrival)).toBe(dueMs);
  });

  it.each([
    [-YEAR, true],
    [0, true],
    [999, true],
    [1_000, false],
    [undefined, false],
  ])('with a lifetime of %s ms has expired on arrival: %s', (life, expected) => {
    expect(hasExpiredOnArrival(issue(createTestClock(), life))).toBe(expected);
  });

  it('with less than a second left when it arrives has expired on arrival', () => {
    expect(hasExpiredOnArrival(issue(createTestClock(), 3 * SECOND, 2_001))).toBe(true);
    expect(hasExpiredOnArrival(issue(createTestClock(), 3 * SECOND, 2_000))).toBe(false);
  });

  it.each<[string, number | undefined, (clock: TestClock) => void | Promise<void>, boolean]>([
    ['serves until a second before its end', HOUR, (clock) => clock.advance(HOUR - SECOND - 1), false],
    ['is dead a second before its end', HOUR, (clock) => clock.advance(HOUR - SECOND), true],
    ['of six seconds serves for most of them', 6 * SECOND, (clock) => clock.advance(4_999), false],
    ['of six seconds is dead a second before its end', 6 * SECOND, (clock) => clock.advance(5_000), true],
    ['of two seconds is dead after two thirds of them', 2 * SECOND, (clock) => clock.advance(1_334), true],
    ['of unknown life never dies by itself', undefined, (clock) => clock.advance(YEAR), false],
    [
      'that had expired on arrival is used all the same, for there is no better one',
      -DAY,
      (clock) => clock.advance(HOUR),
      false,
    ],
    ['is dead when the machine slept through its end', HOUR, (clock) => clock.step(HOUR), true],
    [
      'is dead at its end though the wall clock stepped back',
      HOUR,
      async (clock) => {
        clock.step(-DAY);
        await clock.advance(HOUR);
      },
      true,
    ],
    ['serves on after a step back', HOUR, (clock) => clock.step(-HOUR), false],
  ])('%s', async (_sentence, life, pass, dead) => {
    const clock = createTestClock();
    const token = issue(clock, life);
    await pass(clock);
    expect(hasExpired(token, clock)).toBe(dead);
  });
});
