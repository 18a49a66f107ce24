import { describe, expect, it } from 'vitest';
import { expectRecovery, gaps, runScenario, SCHEDULES, SECRET_LOOK_MS, triesAfterRefusal } from './bounds.ts';
import { HOUR, MINUTE } from './counting.ts';
import { type Behaviour, fail, healthy } from './service.ts';

describe.each(SCHEDULES)('credentials that are refused, with a poll %s,', (_schedule, everyMs) => {
  const refusing: Behaviour = (kind) => (kind === 'login' ? fail(401) : undefined);

  it('are tried after a minute, doubling to an hour, and by nothing else for six hours', async () => {
    await runScenario({ everyMs }, refusing, async ({ world, service, count }) => {
      await world.advance(6 * HOUR);
      expect(count('login')).toBe(triesAfterRefusal(6 * HOUR));
      expect(service.seen).toHaveLength(count('login'));
      const waits = gaps(service.times('login'));
      for (const [index, wait] of waits.entries()) {
        expect(wait).toBeGreaterThanOrEqual(Math.min(HOUR, MINUTE * 2 ** index));
      }
    });
  });

  it('are tried within ten seconds of a change of the secret, and a poll follows at once', async () => {
    await runScenario({ everyMs }, healthy, async (simulation) => {
      const { world, service, secret, count } = simulation;
      service.setPassword('another');
      // The first login went out with the old password; the longest wait has come.
      await world.advance(2 * HOUR);
      const before = count('login');
      secret.password = 'another';
      await expectRecovery(simulation, SECRET_LOOK_MS);
      expect(count('login')).toBe(before + 1);
    });
  });

  it('are tried once for each change of the secret if the new one is refused, too', async () => {
    const CHANGES = 20;
    await runScenario({ everyMs }, refusing, async ({ world, secret, count }) => {
      await world.advance(2 * HOUR);
      const before = count('login');
      for (let change = 1; change <= CHANGES; change += 1) {
        secret.password = `wrong-${change}`;
        await world.advance(2 * MINUTE);
      }
      expect(count('login')).toBe(before + CHANGES);
    });
  });

  it('are tried at once on SIGHUP, and the wait that follows is no shorter for it', async () => {
    await runScenario({ everyMs }, refusing, async (simulation) => {
      const { world, worker, count } = simulation;
      await world.advance(2 * HOUR);
      const before = count('login');
      worker.pollNow();
      await world.advance(59 * MINUTE);
      expect(count('login')).toBe(before + 1);
      worker.pollNow();
      await expectRecovery(simulation, 0);
    });
  });

  it('leave the old token in use until it expires, if only the renewal is refused', async () => {
    const behaviour: Behaviour = (kind, at) => (kind === 'login' && at > MINUTE ? fail(401) : undefined);
    await runScenario({ everyMs }, behaviour, async ({ world, worker, count, dead }) => {
      await world.advance(59 * MINUTE);
      expect(worker.ended.filter(({ report }) => report.error !== undefined)).toEqual([]);
      // The renewal was due five minutes before the expiry.
      expect(count('login')).toBeLessThanOrEqual(1 + triesAfterRefusal(5 * MINUTE));
      await world.advance(HOUR);
      expect(count('login')).toBeLessThanOrEqual(1 + triesAfterRefusal(HOUR + 5 * MINUTE));
      expect(dead()).toBe(0);
    });
  });
});
