import { describe, expect, it } from 'vitest';
import { gaps, LOGINS_AN_HOUR, PROFILES_AN_HOUR, pollsAnHour, RUN_MS, runScenario, SCHEDULES } from './bounds.ts';
import { DAY, HOUR, MINUTE } from './counting.ts';
import { healthy } from './service.ts';

describe.each(SCHEDULES)('a machine whose clocks are wrong, with a poll %s,', (_schedule, everyMs) => {
  it('that steps an hour on and back every ten minutes costs a login and a poll for each step on', async () => {
    const STEPS = 6;
    await runScenario({ everyMs }, healthy, async ({ world, count, dead, goodPolls }) => {
      for (let step = 0; step < STEPS; step += 1) {
        world.stepWall(step % 2 === 0 ? HOUR : -HOUR);
        await world.advance(10 * MINUTE);
      }
      const stepsOn = STEPS / 2;
      expect(count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR + stepsOn);
      // A scheduled run that a step skipped is made up once; one for each kind.
      expect(count('leagues')).toBeLessThanOrEqual(pollsAnHour(everyMs) + stepsOn);
      expect(count('profile')).toBeLessThanOrEqual(PROFILES_AN_HOUR + stepsOn);
      expect(Math.max(...gaps(goodPolls()))).toBeLessThanOrEqual(everyMs + RUN_MS);
      expect(dead()).toBe(0);
    });
  });

  it.each([
    ['a day ahead', DAY],
    ['a day behind', -DAY],
  ])('that stays set %s misses no scheduled run, and logs in at most once more', async (_way, step) => {
    await runScenario({ everyMs }, healthy, async ({ world, count, dead, goodPolls }) => {
      await world.advance(10 * MINUTE);
      world.stepWall(step);
      await world.advance(50 * MINUTE);
      expect(count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR + 1);
      expect(count('leagues')).toBeLessThanOrEqual(pollsAnHour(everyMs) + 1);
      expect(Math.max(...gaps(goodPolls()))).toBeLessThanOrEqual(everyMs + RUN_MS);
      expect(dead()).toBe(0);
    });
  });

  it.each<[string, readonly ('wall' | 'monotonic')[], { deadSent: number; madeUp: number }]>([
    ['the wall clock knows of', ['wall'], { deadSent: 0, madeUp: 1 }],
    ['the monotonic clock knows of', ['monotonic'], { deadSent: 0, madeUp: 0 }],
    ['both clocks know of', ['wall', 'monotonic'], { deadSent: 0, madeUp: 1 }],
    // Unavoidable: the worker cannot know. The token is rejected, replaced, and the request repeated once.
    ['no clock knows of', [], { deadSent: 1, madeUp: 0 }],
  ])(
    'that was suspended for 8 hours that %s logs in once and polls within one interval',
    async (_what, knowing, expected) => {
      await runScenario({ everyMs }, healthy, async ({ world, service, worker, count, dead, goodPolls }) => {
        await world.advance(30 * MINUTE);
        const logins = count('login');
        world.suspend(8 * HOUR, ...knowing);
        const woke = world.elapsed();
        await world.advance(everyMs);
        expect(count('login')).toBe(logins + 1);
        expect(dead()).toBeLessThanOrEqual(expected.deadSent);
        const after = goodPolls().filter((at) => at > woke);
        expect(after[0]).toBeLessThanOrEqual(woke + everyMs + RUN_MS);
        // The catch-up of the missed run, and the next scheduled one.
        expect(after.length).toBeGreaterThanOrEqual(1);
        expect(after.length).toBeLessThanOrEqual(1 + expected.madeUp);
        if (expected.madeUp > 0) expect(after[0]).toBeLessThanOrEqual(woke + RUN_MS);
        expect(service.seen.filter(({ at }) => at > woke).length).toBeLessThanOrEqual(6);
        expect(worker.ended.filter(({ report }) => report.error !== undefined)).toEqual([]);
      });
    },
  );
});
