import { describe, expect, it } from 'vitest';
import { ATTEMPTS, expectRecovery, LOGINS_AN_HOUR, pollsAnHour, RUN_MS, runScenario, SCHEDULES } from './bounds.ts';
import { createSimulation, DAY, HOUR, MINUTE, SECOND, type Simulation } from './counting.ts';
import { type Behaviour, fail, healthy } from './service.ts';

describe.each(SCHEDULES)('with a poll %s', (_schedule, everyMs) => {
  it.each<[string, (at: Simulation['world']) => string]>([
    ['of 10 minutes', () => '600'],
    ['that is a date in 10 minutes', (world) => new Date(world.now() + 10 * MINUTE).toUTCString()],
  ])('a Retry-After %s is kept to the second by all, and a poll follows at its end', async (_form, write) => {
    await using simulation = createSimulation({ everyMs });
    simulation.service.setBehaviour(() => fail(429, { 'retry-after': write(simulation.world) }));
    const worker = await simulation.start();
    await simulation.world.advance(HOUR - MINUTE);
    const times = simulation.service.seen.map(({ at }) => at);
    // One request after each Retry-After, and none during it.
    expect(times).toHaveLength(HOUR / (10 * MINUTE));
    for (const [index, at] of times.slice(1).entries())
      expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(10 * MINUTE);
    const before = simulation.service.seen.length;
    worker.pollNow();
    await simulation.world.advance(RUN_MS);
    expect(simulation.service.seen).toHaveLength(before);
    const end = (times.at(-1) ?? 0) + 10 * MINUTE;
    await expectRecovery(simulation, end - simulation.world.elapsed());
  });

  it.each(['soon', '-5', '1.5'])('a Retry-After "%s" changes nothing', async (nonsense) => {
    const behaviour: Behaviour = (kind) => (kind === 'login' ? undefined : fail(429, { 'retry-after': nonsense }));
    await runScenario({ everyMs }, behaviour, async (simulation) => {
      await simulation.world.advance(HOUR);
      expect(simulation.count('leagues')).toBe(ATTEMPTS * pollsAnHour(everyMs));
      expect(simulation.count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR);
      await expectRecovery(simulation, everyMs);
    });
  });
});

describe('a Retry-After that ends between two scheduled runs', () => {
  it('is followed by a poll as soon as it ends', async () => {
    // Longer than a run, and over before the first scheduled run.
    const ASKED_MS = 150 * SECOND;
    const behaviour: Behaviour = (kind) =>
      kind === 'leagues' ? fail(503, { 'retry-after': String(ASKED_MS / SECOND) }) : undefined;
    await runScenario({}, behaviour, async (simulation) => {
      await simulation.world.advance(MINUTE);
      expect(simulation.count('leagues')).toBe(1);
      await expectRecovery(simulation, ASKED_MS - MINUTE);
      expect(simulation.count('leagues')).toBe(2);
    });
  });
});

describe('a Retry-After of two days', () => {
  it.each(['leagues', 'login'] as const)(
    'that answers the %s is kept for 24 hours, and then a poll follows',
    async (kind) => {
      const behaviour: Behaviour = (asked) =>
        asked === kind ? fail(429, { 'retry-after': String((2 * DAY) / SECOND) }) : undefined;
      await runScenario({}, behaviour, async (simulation) => {
        await simulation.world.advance(MINUTE);
        const before = simulation.service.seen.length;
        simulation.service.setBehaviour(healthy);
        await simulation.world.advance(DAY - MINUTE);
        expect(simulation.service.seen).toHaveLength(before);
        await expectRecovery(simulation, 0);
      });
    },
  );

  it('ends no later for a worker that is restarted meanwhile', async () => {
    await using simulation = createSimulation();
    simulation.service.setBehaviour((kind) =>
      kind === 'leagues' ? fail(429, { 'retry-after': String((2 * DAY) / SECOND) }) : undefined,
    );
    const first = await simulation.start();
    await simulation.world.advance(12 * HOUR);
    await first.stop();
    const before = simulation.service.seen.length;
    await simulation.start();
    await simulation.world.advance(12 * HOUR - MINUTE);
    expect(simulation.service.seen).toHaveLength(before);
    await expectRecovery(simulation, MINUTE);
  });
});
