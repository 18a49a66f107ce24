import { describe, expect, it } from 'vitest';
import { createStage, DAY, HOUR, MINUTE, SECOND, type Stage } from '../support/counting.ts';
import {
  ATTEMPTS,
  expectRecovery,
  LOGINS_AN_HOUR,
  play,
  pollsAnHour,
  RUN_MS,
  SCHEDULES,
} from '../support/counting-bounds.ts';
import { fail, type Mood, usual } from '../support/counting-service.ts';

describe.each(SCHEDULES)('with a poll %s', (_schedule, everyMs) => {
  it.each<[string, (at: Stage['world']) => string]>([
    ['of 10 minutes', () => '600'],
    ['that is a date in 10 minutes', (world) => new Date(world.now() + 10 * MINUTE).toUTCString()],
  ])('a Retry-After %s is kept to the second by all, and a poll follows at its end', async (_form, write) => {
    await using stage = createStage({ everyMs });
    stage.service.feel(() => fail(429, { 'retry-after': write(stage.world) }));
    const worker = await stage.start();
    await stage.world.advance(HOUR - MINUTE);
    const times = stage.service.seen.map(({ at }) => at);
    // One request finds each pause over, and nothing else is sent in it.
    expect(times).toHaveLength(HOUR / (10 * MINUTE));
    for (const [index, at] of times.slice(1).entries())
      expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(10 * MINUTE);
    const before = stage.service.seen.length;
    worker.pollNow();
    await stage.world.advance(RUN_MS);
    expect(stage.service.seen).toHaveLength(before);
    const end = (times.at(-1) ?? 0) + 10 * MINUTE;
    await expectRecovery(stage, end - stage.world.elapsed());
  });

  it.each(['soon', '-5', '1.5'])('a Retry-After "%s" changes nothing', async (nonsense) => {
    const mood: Mood = (kind) => (kind === 'login' ? undefined : fail(429, { 'retry-after': nonsense }));
    await play({ everyMs }, mood, async (stage) => {
      await stage.world.advance(HOUR);
      expect(stage.count('leagues')).toBe(ATTEMPTS * pollsAnHour(everyMs));
      expect(stage.count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR);
      await expectRecovery(stage, everyMs);
    });
  });
});

describe('a Retry-After that ends between two scheduled runs', () => {
  it('is followed by a poll as soon as it ends', async () => {
    // Longer than a run, and over before the first scheduled run.
    const ASKED_MS = 150 * SECOND;
    const mood: Mood = (kind) =>
      kind === 'leagues' ? fail(503, { 'retry-after': String(ASKED_MS / SECOND) }) : undefined;
    await play({}, mood, async (stage) => {
      await stage.world.advance(MINUTE);
      expect(stage.count('leagues')).toBe(1);
      await expectRecovery(stage, ASKED_MS - MINUTE);
      expect(stage.count('leagues')).toBe(2);
    });
  });
});

describe('a Retry-After of two days', () => {
  it.each(['leagues', 'login'] as const)(
    'that answers the %s is kept for 24 hours, and then a poll follows',
    async (kind) => {
      const mood: Mood = (asked) =>
        asked === kind ? fail(429, { 'retry-after': String((2 * DAY) / SECOND) }) : undefined;
      await play({}, mood, async (stage) => {
        await stage.world.advance(MINUTE);
        const before = stage.service.seen.length;
        stage.service.feel(usual);
        await stage.world.advance(DAY - MINUTE);
        expect(stage.service.seen).toHaveLength(before);
        await expectRecovery(stage, 0);
      });
    },
  );

  it('ends no later for a worker that is restarted meanwhile', async () => {
    await using stage = createStage();
    stage.service.feel((kind) =>
      kind === 'leagues' ? fail(429, { 'retry-after': String((2 * DAY) / SECOND) }) : undefined,
    );
    const first = await stage.start();
    await stage.world.advance(12 * HOUR);
    await first.stop();
    const before = stage.service.seen.length;
    await stage.start();
    await stage.world.advance(12 * HOUR - MINUTE);
    expect(stage.service.seen).toHaveLength(before);
    await expectRecovery(stage, MINUTE);
  });
});
