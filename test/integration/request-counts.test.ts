import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '../support/counting.ts';
import {
  ATTEMPTS,
  BORN_EXPIRED_AN_HOUR,
  CHANCES,
  expectRecovery,
  KEEPING_AN_HOUR,
  KEEPING_AT_FIRST,
  LOGINS_AN_HOUR,
  loginsWhileDown,
  PROFILES_AN_HOUR,
  play,
  pollsAnHour,
  RUN_MS,
  SCHEDULES,
  triesAfterRefusal,
} from '../support/counting-bounds.ts';
import { fail, type Mood, type Reply, usual } from '../support/counting-service.ts';
import type { Kind } from '../support/scripted-service.ts';

describe.each(SCHEDULES)('in one hour with a poll %s', (_schedule, everyMs) => {
  it('a service that is well sees one request a poll, and a login for each life of a token', async () => {
    await play({ everyMs }, usual, async ({ world, count, dead, goodPolls }) => {
      await world.advance(HOUR);
      expect(count('leagues')).toBe(pollsAnHour(everyMs));
      expect(goodPolls()).toHaveLength(pollsAnHour(everyMs));
      expect(count('profile')).toBe(PROFILES_AN_HOUR);
      expect(count('login')).toBe(LOGINS_AN_HOUR);
      expect(dead()).toBe(0);
    });
  });

  describe.each(CHANCES)('and waits %s,', (_chance, chance) => {
    it.each<[string, Mood]>([
      ['everything', () => fail(503)],
      ['only the login', (kind) => (kind === 'login' ? fail(503) : undefined)],
    ])('a service that answers %s with 503 sees only logins, and not too many', async (_what, mood) => {
      await play({ everyMs, ...chance }, mood, async (stage) => {
        await stage.world.advance(HOUR);
        expect(stage.count('login')).toBeLessThanOrEqual(loginsWhileDown(everyMs));
        expect(stage.service.seen).toHaveLength(stage.count('login'));
        await expectRecovery(stage, everyMs);
      });
    });

    it('a service whose login fails after ten minutes still answers every poll until the token dies', async () => {
      const mood: Mood = (kind, at) => (kind === 'login' && at > 10 * MINUTE ? fail(503) : undefined);
      await play({ everyMs, ...chance }, mood, async (stage) => {
        await stage.world.advance(HOUR - MINUTE);
        expect(stage.worker.ended.filter(({ report }) => report.error !== undefined)).toEqual([]);
        expect(stage.goodPolls().length).toBeGreaterThanOrEqual(Math.floor((HOUR - MINUTE) / everyMs));
        // Due 5 minutes before its end.
        const most = 1 + ATTEMPTS * KEEPING_AT_FIRST;
        expect(stage.count('login')).toBeLessThanOrEqual(most);
        expect(stage.dead()).toBe(0);
        await expectRecovery(stage, everyMs);
      });
    });
  });

  it.each<[string, Mood]>([
    ['with 401', () => fail(401)],
    ['with result=fail and 200', () => fail(200)],
  ])(
    'leagues and profile that are answered %s for ever cost little more than refused credentials',
    async (_, answer) => {
      const mood: Mood = (kind, ...rest) => (kind === 'login' ? undefined : answer(kind, ...rest));
      await play({ everyMs }, mood, async (stage) => {
        await stage.world.advance(HOUR);
        // A token rejected, one login, a fresh token rejected: the try ends.
        const tries = triesAfterRefusal(HOUR);
        expect(stage.count('leagues')).toBeLessThanOrEqual(2 * tries);
        expect(stage.count('profile')).toBeLessThanOrEqual(2 * tries);
        expect(stage.count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR + 2 * tries);
        stage.service.feel(usual);
        stage.worker.pollNow();
        await expectRecovery(stage, 0);
      });
    },
  );

  it.each([401, 403])(
    'a profile that is answered with %i for ever keeps no poll of the leagues waiting',
    async (status) => {
      await play(
        { everyMs },
        (kind) => (kind === 'profile' ? fail(status) : undefined),
        async (stage) => {
          await stage.world.advance(HOUR);
          expect(stage.goodPolls()).toHaveLength(pollsAnHour(everyMs));
          expect(stage.count('leagues')).toBe(pollsAnHour(everyMs));
          const tries = triesAfterRefusal(HOUR);
          expect(stage.count('profile')).toBeLessThanOrEqual(2 * tries);
          expect(stage.count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR + 2 * tries);
        },
      );
    },
  );

  it.each([401, 403])('leagues that are answered with %i for ever keep no profile waiting', async (status) => {
    await play(
      { everyMs },
      (kind) => (kind === 'leagues' ? fail(status) : undefined),
      async (stage) => {
        await stage.world.advance(HOUR);
        const failed = stage.worker.ended.filter(
          ({ report }) => report.kind === 'profile' && report.error !== undefined,
        );
        expect(failed).toEqual([]);
        const tries = triesAfterRefusal(HOUR);
        expect(stage.count('profile')).toBe(PROFILES_AN_HOUR);
        expect(stage.count('leagues')).toBeLessThanOrEqual(2 * tries);
        expect(stage.count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR + 2 * tries);
      },
    );
  });

  it('leagues that are well again after rejecting fresh tokens are polled when the wait is over', async () => {
    const mood: Mood = (kind) => (kind === 'leagues' ? fail(401) : undefined);
    await play({ everyMs }, mood, async (stage) => {
      // Tries have come at 0, 1, 3 and 7 minutes; the next comes at 15.
      await stage.world.advance(14 * MINUTE);
      await expectRecovery(stage, MINUTE);
    });
  });

  it.each<[string, number | undefined, number]>([
    // Due at two thirds of its life, each from when the login was sent.
    ['that live 5 s', 5 * SECOND, HOUR / (5 * SECOND * (2 / 3)) + 1],
    ['that live a minute', MINUTE, HOUR / (MINUTE * (2 / 3)) + 1],
    ['that live 60 days', 60 * DAY, 1],
    ['that name no expiry', undefined, HOUR / (30 * MINUTE)],
  ])('tokens %s are renewed in time and not more often', async (_life, lifeMs, mostLogins) => {
    await play({ everyMs, lifeMs }, usual, async ({ world, count, dead, goodPolls }) => {
      await world.advance(HOUR);
      expect(count('login')).toBeLessThanOrEqual(mostLogins);
      expect(count('leagues')).toBe(pollsAnHour(everyMs));
      expect(goodPolls()).toHaveLength(pollsAnHour(everyMs));
      expect(dead()).toBe(0);
    });
  });

  it('tokens that are born expired are used all the same if the service takes them', async () => {
    await play({ everyMs, lifeMs: -MINUTE, takesDead: true }, usual, async ({ world, count, goodPolls }) => {
      await world.advance(HOUR);
      expect(count('login')).toBeLessThanOrEqual(BORN_EXPIRED_AN_HOUR);
      expect(goodPolls()).toHaveLength(pollsAnHour(everyMs));
    });
  });

  it('tokens that are born expired and not taken are tried no more often than refused credentials', async () => {
    await play({ everyMs, lifeMs: -MINUTE }, usual, async ({ world, count }) => {
      await world.advance(HOUR);
      const tries = triesAfterRefusal(HOUR);
      expect(count('leagues')).toBeLessThanOrEqual(2 * tries);
      expect(count('profile')).toBeLessThanOrEqual(2 * tries);
      expect(count('login')).toBeLessThanOrEqual(tries + BORN_EXPIRED_AN_HOUR);
    });
  });

  it('a network that kills every second request costs one more a poll, and no poll fails', async () => {
    await play(
      { everyMs },
      (_kind, _at, nth) => (nth % 2 === 0 ? 'dies' : undefined),
      async (stage) => {
        await stage.world.advance(HOUR);
        expect(stage.goodPolls()).toHaveLength(pollsAnHour(everyMs));
        expect(stage.count('leagues')).toBeLessThanOrEqual(2 * pollsAnHour(everyMs));
        expect(stage.count('profile')).toBeLessThanOrEqual(2 * PROFILES_AN_HOUR);
        expect(stage.count('login')).toBeLessThanOrEqual(2 * LOGINS_AN_HOUR);
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
      await play(
        { everyMs, lifeMs },
        (_kind, at) => (at % round > up ? 'dies' : undefined),
        async (stage) => {
          await stage.world.advance(HOUR);
          for (const from of [0, round, 2 * round, 3 * round]) {
            expect(stage.goodPolls().filter((at) => at > from && at <= from + everyMs + RUN_MS)).not.toEqual([]);
          }
          expect(stage.count('leagues')).toBeLessThanOrEqual(ATTEMPTS * pollsAnHour(everyMs));
          const whileUp = HOUR / ((lifeMs * 2) / 3) + 1;
          expect(stage.count('login')).toBeLessThanOrEqual(loginsWhileDown(everyMs) + whileUp);
          expect(stage.dead()).toBe(0);
          await expectRecovery(stage, everyMs);
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
      await play({ everyMs, leadMs }, usual, async ({ world, count, dead, goodPolls }) => {
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
    (kind: Kind, reply: Reply): Mood =>
    (asked) =>
      asked === kind ? reply : undefined;

  it.each<[string, Mood, Most]>([
    // Contract, 5.1: neither is retried.
    ['leagues that are not found', only('leagues', { status: 404 }), usualMost],
    ['leagues that are redirected', only('leagues', { status: 302 }), usualMost],
    ['an answer without a list', only('leagues', { status: 200 }), usualMost],
    // Four attempts a run, and the other kind goes on as ever.
    ['leagues with 503', only('leagues', fail(503)), { ...usualMost, leagues: ATTEMPTS * polls }],
    ['leagues that die', only('leagues', 'dies'), { ...usualMost, leagues: ATTEMPTS * polls }],
    ['a profile with 503', only('profile', fail(503)), { ...usualMost, profile: ATTEMPTS * PROFILES }],
    // Contract, 5.1: nothing is sent sooner than it asks, and waits inside a run are requests of that run.
    [
      'leagues with 429 and a Retry-After of 30 s',
      only('leagues', fail(429, { 'retry-after': '30' })),
      { ...usualMost, leagues: HOUR / (30 * SECOND) },
    ],
    // Contract, 4: no success is a refusal.
    [
      'a login that is not found',
      only('login', { status: 404 }),
      { login: triesAfterRefusal(HOUR), leagues: 0, profile: 0 },
    ],
    // No refusal and nothing to retry: the session's own tries, and one a run.
    [
      'a login without a token',
      only('login', { status: 200, body: { result: 'success' } }),
      { login: KEEPING_AN_HOUR + polls + PROFILES, leagues: 0, profile: 0 },
    ],
  ])('%s cost no more requests than they may', async (_what, mood, most) => {
    await play({ everyMs }, mood, async ({ world, count, dead }) => {
      await world.advance(HOUR);
      for (const kind of ['login', 'leagues', 'profile'] as const) {
        expect(count(kind), kind).toBeLessThanOrEqual(most[kind]);
      }
      expect(dead()).toBe(0);
    });
  });
});
