import { describe, expect, it } from 'vitest';
import type { Kind } from '../../support/service.ts';
import {
  ATTEMPTS,
  EXPIRED_ON_ARRIVAL_LOGINS_AN_HOUR,
  expectRecovery,
  JITTERS,
  LOGINS_AN_HOUR,
  loginsWhileDown,
  PROFILES_AN_HOUR,
  pollsAnHour,
  RENEWALS_AN_HOUR,
  RENEWALS_AT_FIRST,
  RUN_MS,
  runScenario,
  SCHEDULES,
  triesAfterRefusal,
} from './bounds.ts';
import { DAY, HOUR, MINUTE, SECOND } from './counting.ts';
import { type Behaviour, fail, healthy, type Reply } from './service.ts';

describe.each(SCHEDULES)('in one hour with a poll %s', (_schedule, everyMs) => {
  it('a healthy service gets one request per poll, and one login per token lifetime', async () => {
    await runScenario({ everyMs }, healthy, async ({ world, count, dead, goodPolls }) => {
      await world.advance(HOUR);
      expect(count('leagues')).toBe(pollsAnHour(everyMs));
      expect(goodPolls()).toHaveLength(pollsAnHour(everyMs));
      expect(count('profile')).toBe(PROFILES_AN_HOUR);
      expect(count('login')).toBe(LOGINS_AN_HOUR);
      expect(dead()).toBe(0);
    });
  });

  describe.each(JITTERS)('and waits %s,', (_chance, chance) => {
    it.each<[string, Behaviour]>([
      ['everything', () => fail(503)],
      ['only the login', (kind) => (kind === 'login' ? fail(503) : undefined)],
    ])('a service that answers %s with 503 sees only logins, and not too many', async (_what, behaviour) => {
      await runScenario({ everyMs, ...chance }, behaviour, async (simulation) => {
        await simulation.world.advance(HOUR);
        expect(simulation.count('login')).toBeLessThanOrEqual(loginsWhileDown(everyMs));
        expect(simulation.service.seen).toHaveLength(simulation.count('login'));
        await expectRecovery(simulation, everyMs);
      });
    });

    it('a service whose login fails after ten minutes still answers every poll until the token expires', async () => {
      const behaviour: Behaviour = (kind, at) => (kind === 'login' && at > 10 * MINUTE ? fail(503) : undefined);
      await runScenario({ everyMs, ...chance }, behaviour, async (simulation) => {
        await simulation.world.advance(HOUR - MINUTE);
        expect(simulation.worker.ended.filter(({ report }) => report.error !== undefined)).toEqual([]);
        expect(simulation.goodPolls().length).toBeGreaterThanOrEqual(Math.floor((HOUR - MINUTE) / everyMs));
        // The renewal is due 5 minutes before the expiry.
        const most = 1 + ATTEMPTS * RENEWALS_AT_FIRST;
        expect(simulation.count('login')).toBeLessThanOrEqual(most);
        expect(simulation.dead()).toBe(0);
        await expectRecovery(simulation, everyMs);
      });
    });
  });

  it.each([
    ['with 401', 401, 0],
    ['with result=fail and 200, which polls survive,', 200, 1],
  ])(
    'leagues and profile that are answered %s for ever cost few more logins than refused credentials',
    async (_, status, goOn) => {
      const behaviour: Behaviour = (kind) => (kind === 'login' ? undefined : fail(status));
      await runScenario({ everyMs }, behaviour, async (simulation) => {
        await simulation.world.advance(HOUR);
        // A rejected token, one login, a rejected fresh token: the run fails.
        const tries = triesAfterRefusal(HOUR);
        expect(simulation.count('leagues')).toBeLessThanOrEqual(2 * tries + goOn * pollsAnHour(everyMs));
        expect(simulation.count('profile')).toBeLessThanOrEqual(2 * tries + goOn * PROFILES_AN_HOUR);
        expect(simulation.count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR + 2 * tries);
        simulation.service.setBehaviour(healthy);
        simulation.worker.pollNow();
        await expectRecovery(simulation, 0);
      });
    },
  );

  it.each([401, 403])(
    'a profile that is answered with %i for ever keeps no poll of the leagues waiting',
    async (status) => {
      await runScenario(
        { everyMs },
        (kind) => (kind === 'profile' ? fail(status) : undefined),
        async (simulation) => {
          await simulation.world.advance(HOUR);
          expect(simulation.goodPolls()).toHaveLength(pollsAnHour(everyMs));
          expect(simulation.count('leagues')).toBe(pollsAnHour(everyMs));
          const tries = triesAfterRefusal(HOUR);
          expect(simulation.count('profile')).toBeLessThanOrEqual(2 * tries);
          expect(simulation.count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR + 2 * tries);
        },
      );
    },
  );

  it.each([401, 403])('leagues that are answered with %i for ever keep no profile waiting', async (status) => {
    await runScenario(
      { everyMs },
      (kind) => (kind === 'leagues' ? fail(status) : undefined),
      async (simulation) => {
        await simulation.world.advance(HOUR);
        const failed = simulation.worker.ended.filter(
          ({ report }) => report.kind === 'profile' && report.error !== undefined,
        );
        expect(failed).toEqual([]);
        const tries = triesAfterRefusal(HOUR);
        expect(simulation.count('profile')).toBe(PROFILES_AN_HOUR);
        expect(simulation.count('leagues')).toBeLessThanOrEqual(2 * tries);
        expect(simulation.count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR + 2 * tries);
      },
    );
  });

  it('leagues that recover after rejecting fresh tokens are polled when the backoff ends', async () => {
    const behaviour: Behaviour = (kind) => (kind === 'leagues' ? fail(401) : undefined);
    await runScenario({ everyMs }, behaviour, async (simulation) => {
      // Tries have come at 0, 1, 3 and 7 minutes; the next comes at 15.
      await simulation.world.advance(14 * MINUTE);
      await expectRecovery(simulation, MINUTE);
    });
  });

  it.each<[string, number | undefined, number]>([
    // Renewal is due at two thirds of the lifetime, counted from when the login was sent.
    ['that live 5 s', 5 * SECOND, HOUR / (5 * SECOND * (2 / 3)) + 1],
    ['that live a minute', MINUTE, HOUR / (MINUTE * (2 / 3)) + 1],
    ['that live 60 days', 60 * DAY, 1],
    ['that name no expiry', undefined, HOUR / (30 * MINUTE)],
  ])('tokens %s are renewed in time and not more often', async (_life, lifeMs, mostLogins) => {
    await runScenario({ everyMs, lifeMs }, healthy, async ({ world, count, dead, goodPolls }) => {
      await world.advance(HOUR);
      expect(count('login')).toBeLessThanOrEqual(mostLogins);
      expect(count('leagues')).toBe(pollsAnHour(everyMs));
      expect(goodPolls()).toHaveLength(pollsAnHour(everyMs));
      expect(dead()).toBe(0);
    });
  });

  it('tokens that expired on arrival are used if the service accepts them', async () => {
    await runScenario({ everyMs, lifeMs: -MINUTE, takesDead: true }, healthy, async ({ world, count, goodPolls }) => {
      await world.advance(HOUR);
      expect(count('login')).toBeLessThanOrEqual(EXPIRED_ON_ARRIVAL_LOGINS_AN_HOUR);
      expect(goodPolls()).toHaveLength(pollsAnHour(everyMs));
    });
  });

  it('tokens that expired on arrival and are rejected are retried no more often than rejected credentials', async () => {
    await runScenario({ everyMs, lifeMs: -MINUTE }, healthy, async ({ world, count }) => {
      await world.advance(HOUR);
      const tries = triesAfterRefusal(HOUR);
      expect(count('leagues')).toBeLessThanOrEqual(2 * tries);
      expect(count('profile')).toBeLessThanOrEqual(2 * tries);
      expect(count('login')).toBeLessThanOrEqual(tries + EXPIRED_ON_ARRIVAL_LOGINS_AN_HOUR);
    });
  });

  it('a network that breaks every second request costs one more request per poll, and no poll fails', async () => {
    await runScenario(
      { everyMs },
      (_kind, _at, nth) => (nth % 2 === 0 ? 'dies' : undefined),
      async (simulation) => {
        await simulation.world.advance(HOUR);
        expect(simulation.goodPolls()).toHaveLength(pollsAnHour(everyMs));
        expect(simulation.count('leagues')).toBeLessThanOrEqual(2 * pollsAnHour(everyMs));
        expect(simulation.count('profile')).toBeLessThanOrEqual(2 * PROFILES_AN_HOUR);
        expect(simulation.count('login')).toBeLessThanOrEqual(2 * LOGINS_AN_HOUR);
      },
    );
  });

  it.each<[string, number]>([
    ['an hour', HOUR],
    ['twenty seconds', 20 * SECOND],
  ])(
    'a network that is up for 7 minutes and down for 8 is used in every up, with tokens of %s',
    async (_life, lifeMs) => {
      const [up, round] = [7 * MINUTE, 15 * MINUTE];
      await runScenario(
        { everyMs, lifeMs },
        (_kind, at) => (at % round > up ? 'dies' : undefined),
        async (simulation) => {
          await simulation.world.advance(HOUR);
          for (const from of [0, round, 2 * round, 3 * round]) {
            expect(simulation.goodPolls().filter((at) => at > from && at <= from + everyMs + RUN_MS)).not.toEqual([]);
          }
          expect(simulation.count('leagues')).toBeLessThanOrEqual(ATTEMPTS * pollsAnHour(everyMs));
          const whileUp = HOUR / ((lifeMs * 2) / 3) + 1;
          expect(simulation.count('login')).toBeLessThanOrEqual(loginsWhileDown(everyMs) + whileUp);
          expect(simulation.dead()).toBe(0);
          await expectRecovery(simulation, everyMs);
        },
      );
    },
  );

  it.each([
    ['ahead', 2 * HOUR],
    ['behind', -2 * HOUR],
  ])(
    'a service whose clock is two hours %s sees no more of the worker, and never a dead token',
    async (_way, leadMs) => {
      await runScenario({ everyMs, leadMs }, healthy, async ({ world, count, dead, goodPolls }) => {
        await world.advance(HOUR);
        expect(count('login')).toBe(LOGINS_AN_HOUR);
        expect(goodPolls()).toHaveLength(pollsAnHour(everyMs));
        expect(dead()).toBe(0);
      });
    },
  );
});

type Most = { readonly login: number; readonly leagues: number; readonly profile: number };

describe.each(SCHEDULES)('in one hour with a poll %s', (_schedule, everyMs) => {
  const polls = pollsAnHour(everyMs);
  const PROFILES = PROFILES_AN_HOUR;
  const usualMost = { login: LOGINS_AN_HOUR, leagues: polls, profile: PROFILES };
  const only =
    (kind: Kind, reply: Reply): Behaviour =>
    (asked) =>
      asked === kind ? reply : undefined;

  it.each<[string, Behaviour, Most]>([
    // Contract, 5.1: neither is retried.
    ['leagues that are not found', only('leagues', { status: 404 }), usualMost],
    ['leagues that are redirected', only('leagues', { status: 302 }), usualMost],
    ['an answer without a list', only('leagues', { status: 200 }), usualMost],
    // Four attempts per run; the other kind is not affected.
    ['leagues with 503', only('leagues', fail(503)), { ...usualMost, leagues: ATTEMPTS * polls }],
    ['leagues that die', only('leagues', 'dies'), { ...usualMost, leagues: ATTEMPTS * polls }],
    ['a profile with 503', only('profile', fail(503)), { ...usualMost, profile: ATTEMPTS * PROFILES }],
    // Contract, 5.1: nothing is sent before the end of the Retry-After; requests after waits inside a run belong to
    // that run.
    [
      'leagues with 429 and a Retry-After of 30 s',
      only('leagues', fail(429, { 'retry-after': '30' })),
      { ...usualMost, leagues: HOUR / (30 * SECOND) },
    ],
    // Contract, 4: a response without success counts as rejected credentials.
    [
      'a login that is not found',
      only('login', { status: 404 }),
      { login: triesAfterRefusal(HOUR), leagues: 0, profile: 0 },
    ],
    // Neither rejected credentials nor a retry: the renewals of the session, and one request per run.
    [
      'a login without a token',
      only('login', { status: 200, body: { result: 'success' } }),
      { login: RENEWALS_AN_HOUR + polls + PROFILES, leagues: 0, profile: 0 },
    ],
  ])('%s cost no more requests than they may', async (_what, behaviour, most) => {
    await runScenario({ everyMs }, behaviour, async ({ world, count, dead }) => {
      await world.advance(HOUR);
      for (const kind of ['login', 'leagues', 'profile'] as const) {
        expect(count(kind), kind).toBeLessThanOrEqual(most[kind]);
      }
      expect(dead()).toBe(0);
    });
  });
});
