import { describe, expect, it } from 'vitest';
import { startTestScheduler } from './test-scheduler.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const YEAR = 365 * 24 * 60 * MINUTE;
const NOON = Date.parse('2026-11-20T12:00:00.000Z');

describe('a clock that steps ahead', () => {
  it.each([
    ['1 scheduled time', 1],
    ['2 scheduled times', 2],
    ['100,000 scheduled times', 100_000],
    ['the scheduled times of a year', YEAR / MINUTE],
  ])('over %s asks the schedule once, makes up once, and runs at the next scheduled time', async (_much, skipped) => {
    const { clock, seen, asked, end } = startTestScheduler(MINUTE, NOON + 1);
    await clock.advance(0);
    const before = asked();
    const last = NOON + skipped * MINUTE;
    // Three seconds after the last scheduled time, at the next regular check.
    clock.step(last + 3 * SECOND - (NOON + 1) - SECOND);
    await clock.advance(SECOND);
    expect(asked() - before).toBe(1);
    await clock.advance(MINUTE);
    expect(seen).toEqual([
      `catch-up ${new Date(last + 3 * SECOND).toISOString()}`,
      `schedule ${new Date(last + MINUTE).toISOString()}`,
    ]);
    await end();
  });
});

it('a loop that is blocked over several scheduled times makes up once, and runs at the next scheduled time', async () => {
  const { clock, seen, end } = startTestScheduler(5 * SECOND, NOON + 1);
  // No timer fires: the check that is due after a second comes after 23.
  clock.step(22 * SECOND);
  await clock.advance(4 * SECOND);
  expect(seen).toEqual(['catch-up 2026-11-20T12:00:23.001Z', 'schedule 2026-11-20T12:00:25.000Z']);
  await end();
});
