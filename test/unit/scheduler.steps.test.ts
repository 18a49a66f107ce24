import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkSchedule } from '../../src/worker/scheduler.ts';
import { HOUR, MINUTE, SECOND, YEAR } from '../support/durations.ts';
import { RUNS } from '../support/league-lists.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const IN_1970 = Date.parse('1970-01-01T00:01:00.000Z');

/** The first multiple of an interval after a timestamp, like `*∕n` in cron. */
const timeAfter = (now: number, everyMs: number): number => (Math.floor(now / everyMs) + 1) * everyMs;

it('after any clock step, the next scheduled time is the first one after the clock', () => {
  const seen = fc.integer({ min: IN_1970, max: NOON + YEAR });
  const shift = fc.oneof(fc.integer({ min: -2 * MINUTE, max: 2 * MINUTE }), fc.integer({ min: -YEAR, max: YEAR }));
  fc.assert(
    fc.property(seen, shift, fc.constantFrom(SECOND, MINUTE, HOUR), (at, moved, everyMs) => {
      const now = at + moved;
      const next = timeAfter(at, everyMs);
      let asked = 0;
      const found = checkSchedule({ next, lastCheck: at }, now, () => {
        asked += 1;
        return timeAfter(now, everyMs);
      });
      expect(found.due !== undefined).toBe(now >= next);
      expect(asked).toBeLessThanOrEqual(1);
      // A small step back is a clock correction, and must not repeat the last run.
      const isCorrected = moved < 0 && moved >= -2 * SECOND;
      expect(found.state).toEqual({ next: isCorrected ? next : timeAfter(now, everyMs), lastCheck: now });
    }),
    RUNS,
  );
});
