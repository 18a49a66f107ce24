import { describe, expect, it, vi } from 'vitest';
import { createMonotonic, systemClock } from '../../src/time/clock.ts';

const HOUR = 3_600_000;
/** Tolerance: more than the time between two readings, less than the expected leaps. */
const MOMENTS_MS = 1_000;

describe('the monotonic clock', () => {
  /** The leaps of the monotonic clock when the uptime leaps, in addition to real time. */
  function movedBy(...leapsMs: readonly number[]): readonly number[] {
    let leapt = 0;
    const monotonic = createMonotonic(() => performance.now() + leapt);
    const begun = monotonic();
    return leapsMs.map((leap) => {
      leapt += leap;
      return monotonic() - begun;
    });
  }

  it('counts the time for which the machine was suspended, each time', () => {
    const [first = 0, second = 0] = movedBy(8 * HOUR, HOUR);
    expect(Math.abs(first - 8 * HOUR)).toBeLessThan(MOMENTS_MS);
    expect(Math.abs(second - 9 * HOUR)).toBeLessThan(MOMENTS_MS);
  });

  it('never goes back, though an uptime in whole seconds does after a suspension', () => {
    const [first = 0, second = 0] = movedBy(8 * HOUR, -1_000);
    expect(second).toBeGreaterThanOrEqual(first);
  });

  it.each([
    ['the rounding of an uptime in whole seconds', 1_000],
    ['an uptime that goes back', -HOUR],
  ])('ignores %s', (_what, leapMs) => {
    expect(Math.abs(movedBy(leapMs)[0] ?? HOUR)).toBeLessThan(MOMENTS_MS);
  });

  it('goes on if the uptime cannot be read', () => {
    const monotonic = createMonotonic(() => {
      throw new Error('not permitted');
    });
    const begun = monotonic();
    expect(monotonic()).toBeGreaterThanOrEqual(begun);
  });

  it('goes with the true time', async () => {
    const monotonic = createMonotonic();
    const [begun, truth] = [monotonic(), performance.now()];
    await new Promise((wake) => setTimeout(wake, 50));
    expect(Math.abs(monotonic() - begun - (performance.now() - truth))).toBeLessThan(50);
  });
});

it('a sleep lasts as long as it should, though the clock is set back meanwhile', async () => {
  const begun = performance.now();
  const sleeping = systemClock.sleep(50);
  using _setBack = vi.spyOn(Date, 'now').mockReturnValue(0);
  await sleeping;
  expect(performance.now() - begun).toBeGreaterThan(45);
});
