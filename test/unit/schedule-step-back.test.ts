import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { look } from '../../src/worker/schedule.ts';
import { slotAfter, watchEvery } from '../support/slot-watch.ts';
import { RUNS } from '../support/unit-league.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;
const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const IN_1970 = Date.parse('1970-01-01T00:01:00.000Z');

describe('a clock that steps back', () => {
  // Slots of five minutes: noon was met, and five past is waited for at three past.
  it.each([
    ['to a millisecond after the slot that was met last', 1, 5 * MINUTE],
    ['to exactly the slot that was met last', 0, 5 * MINUTE],
    ['to a millisecond before the slot that was met last', -1, 0],
    ['to exactly the slot before that', -5 * MINUTE, 0],
    ['to a millisecond before the slot before that', -5 * MINUTE - 1, -5 * MINUTE],
  ])('%s waits for the first slot after that', (_where, to, next) => {
    const now = NOON + to;
    const found = look({ next: NOON + 5 * MINUTE, seen: NOON + 3 * MINUTE }, now, () => slotAfter(now, 5 * MINUTE));
    expect(found).toEqual({ watch: { next: NOON + next, seen: now } });
  });

  it('an hour and is set right again makes up once for what it is moved over, and nothing for the way back', async () => {
    const { clock, seen, end } = watchEvery(5 * MINUTE, NOON + 4 * MINUTE);
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

  it('to 1970 and is set right makes up once, and meets each slot on both sides at its time', async () => {
    const { clock, seen, end } = watchEvery(5 * MINUTE, NOON + 4 * MINUTE);
    clock.step(IN_1970 - clock.now());
    await clock.advance(5 * MINUTE);
    clock.step(NOON + 9 * MINUTE - clock.now());
    await clock.advance(2 * MINUTE);
    expect(seen).toEqual([
      'schedule 1970-01-01T00:05:00.000Z',
      'catch-up 2026-11-20T12:09:01.000Z',
      'schedule 2026-11-20T12:10:00.000Z',
    ]);
    await end();
  });
});

it('wherever the clock is found, the slot that is waited for is the first one after that', () => {
  const seen = fc.integer({ min: IN_1970, max: NOON + YEAR });
  const shift = fc.oneof(fc.integer({ min: -2 * MINUTE, max: 2 * MINUTE }), fc.integer({ min: -YEAR, max: YEAR }));
  fc.assert(
    fc.property(seen, shift, fc.constantFrom(SECOND, MINUTE, HOUR), (at, moved, everyMs) => {
      const now = at + moved;
      const next = slotAfter(at, everyMs);
      let asked = 0;
      const found = look({ next, seen: at }, now, () => {
        asked += 1;
        return slotAfter(now, everyMs);
      });
      expect(found.due !== undefined).toBe(now >= next);
      expect(asked).toBeLessThanOrEqual(1);
      // A clock that is set back by a moment is being corrected, and would else have its last slot a second time.
      const isCorrected = moved < 0 && moved >= -2 * SECOND;
      expect(found.watch).toEqual({ next: isCorrected ? next : slotAfter(now, everyMs), seen: now });
    }),
    RUNS,
  );
});
