import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSchedule } from '../../src/worker/scheduler.ts';
import { RUNS } from '../support/league-lists.ts';
import { startTestScheduler, timeAfter } from './test-scheduler.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;
const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const IN_1970 = Date.parse('1970-01-01T00:01:00.000Z');

describe('a clock that steps back', () => {
  // Every five minutes: the run at noon has taken place, and at three past the next one is five past.
  it('an hour and is set right again makes up once for what it is moved over, and nothing for the way back', async () => {
    const { clock, seen, end } = startTestScheduler(5 * MINUTE, NOON + 4 * MINUTE);
    await clock.advance(2 * MINUTE);
    clock.step(-HOUR);
    await clock.advance(5 * MINUTE);
    clock.step(HOUR);
    await clock.advance(5 * MINUTE);
    expect(seen).toEqual([
      'schedule 2026-11-20T12:05:00.000Z',
      'schedule 2026-11-20T11:10:00.000Z',
      'catch-up 2026-11-20T12:11:01.000Z',
      'schedule 2026-11-20T12:15:00.000Z',
    ]);
    await end();
  });
});

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
