import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { StoppedError } from '../../src/errors.ts';
import { runWorker } from '../../src/worker/worker.ts';
import { createStage, DAY, HOUR, MINUTE, SECOND, type Stage, type StageOptions } from '../support/counting.ts';
import { fail, type Mood, type Reply, usual } from '../support/counting-service.ts';
import type { CountingWorker } from '../support/counting-worker.ts';
import { failed, granted, type Kind, startScriptedService } from '../support/scripted-service.ts';
import { makeFolder } from '../support/workplace.ts';

/** Contract, 5.1: at most four attempts, of a poll as of a login. */
const ATTEMPTS = 4;
/** A run's waits between its attempts (0.5, 1 and 2 s at most), its requests' ways, and a look at the clock. */
const RUN_MS = 5 * SECOND;
/** Contract, 4: the secret is looked at every 10 s. */
const SECRET_LOOK_MS = 10 * SECOND;
/** The poll of the profile at start, and the one at the full hour. */
const PROFILES_AN_HOUR = 2;
/** A token of an hour is made at the start and falls due after 55 minutes (contract, 4). */
const LOGINS_AN_HOUR = 2;
/** The poll at start and those of one hour's slots. */
const pollsAnHour = (everyMs: number): number => 1 + HOUR / everyMs;

/**
 * The session's own tries while there is no token: 0.5, 1, 2 … 64 and 128 s apart at least, which makes ten in the first
 * five minutes, and 150 s apart from then on. Each is a login of up to four attempts, and so is each run's.
 */
const KEEPING_AT_FIRST = 10;
const KEEPING_AN_HOUR = KEEPING_AT_FIRST + HOUR / (150 * SECOND);
const loginsWhileDown = (everyMs: number): number =>
  ATTEMPTS * (KEEPING_AN_HOUR + pollsAnHour(everyMs) + PROFILES_AN_HOUR);

/** Contract, 4: no hammering. Renewed after 10, 20, 40, 80, 160 s and then every 5 minutes. */
const BORN_EXPIRED_AN_HOUR = 1 + 5 + HOUR / (5 * MINUTE);

/** Contract, 4: after a refusal 1 min, doubling to 1 h. So tries come at 0, 1, 3, 7, 15, 31, 63 min and hourly after. */
function triesAfterRefusal(withinMs: number): number {
  let tries = 0;
  let wait = MINUTE;
  for (let at = 0; at < withinMs; at += wait, wait = Math.min(HOUR, 2 * wait)) tries += 1;
  return tries;
}

const SCHEDULES = [
  ['every 5 minutes', 5 * MINUTE],
  ['every minute', MINUTE],
] as const;
/** The least and the most that jitter can be, and something between. */
const CHANCES: readonly [string, StageOptions][] = [
  ['by chance', {}],
  ['as short as can be', { random: () => 0 }],
  ['as long as can be', { random: () => 0.999_999 }],
];

type Play = Stage & { readonly worker: CountingWorker };

/** Starts a worker under a mood of the service, and checks at the end what holds whatever happens. */
async function play(options: StageOptions, mood: Mood, plot: (play: Play) => Promise<void>): Promise<void> {
  await using stage = createStage(options);
  stage.service.feel(mood);
  const worker = await stage.start();
  await plot({ ...stage, worker });
  // Contract, 4: one login at a time, whoever asks.
  expect(stage.service.loginsAtOnce()).toBe(1);
}

/** The service is well from now on: a good poll comes within the time, by default of one slot. */
async function expectRecovery({ world, service, goodPolls }: Stage, withinMs: number): Promise<void> {
  const from = world.elapsed();
  service.feel(usual);
  await world.advance(withinMs + RUN_MS);
  expect(goodPolls().filter((at) => at > from)).not.toEqual([]);
}

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
      ['the login alone', (kind) => (kind === 'login' ? fail(503) : undefined)],
    ])('a service that answers %s with 503 sees logins alone, and not too many', async (_what, mood) => {
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

  it('tokens that are born expired are used all the same where the service takes them', async () => {
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

describe('a Retry-After that ends between two slots', () => {
  it('is followed by a poll as soon as it ends', async () => {
    // Longer than a run, and over before the first slot.
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

  it('ends no later for a worker that is started anew meanwhile', async () => {
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

describe.each(SCHEDULES)('credentials that are refused, with a poll %s,', (_schedule, everyMs) => {
  const refusing: Mood = (kind) => (kind === 'login' ? fail(401) : undefined);

  it('are tried after a minute, doubling to an hour, and by nothing else for six hours', async () => {
    await play({ everyMs }, refusing, async ({ world, service, count }) => {
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
    await play({ everyMs }, usual, async (stage) => {
      const { world, service, secret, count } = stage;
      service.setPassword('another');
      // The first login went out with the old password; the longest wait has come.
      await world.advance(2 * HOUR);
      const before = count('login');
      secret.password = 'another';
      await expectRecovery(stage, SECRET_LOOK_MS);
      expect(count('login')).toBe(before + 1);
    });
  });

  it('are tried once for each change of the secret where the new one is refused, too', async () => {
    const CHANGES = 20;
    await play({ everyMs }, refusing, async ({ world, secret, count }) => {
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
    await play({ everyMs }, refusing, async (stage) => {
      const { world, worker, count } = stage;
      await world.advance(2 * HOUR);
      const before = count('login');
      worker.pollNow();
      await world.advance(59 * MINUTE);
      expect(count('login')).toBe(before + 1);
      worker.pollNow();
      await expectRecovery(stage, 0);
    });
  });

  it('leave the old token in use until it dies, where only the renewal is refused', async () => {
    const mood: Mood = (kind, at) => (kind === 'login' && at > MINUTE ? fail(401) : undefined);
    await play({ everyMs }, mood, async ({ world, worker, count, dead }) => {
      await world.advance(59 * MINUTE);
      expect(worker.ended.filter(({ report }) => report.error !== undefined)).toEqual([]);
      // Due five minutes before its end.
      expect(count('login')).toBeLessThanOrEqual(1 + triesAfterRefusal(5 * MINUTE));
      await world.advance(HOUR);
      expect(count('login')).toBeLessThanOrEqual(1 + triesAfterRefusal(HOUR + 5 * MINUTE));
      expect(dead()).toBe(0);
    });
  });
});

describe.each(SCHEDULES)('a machine whose clocks are wrong, with a poll %s,', (_schedule, everyMs) => {
  it('that steps an hour on and back every ten minutes costs a login and a poll for each step on', async () => {
    const STEPS = 6;
    await play({ everyMs }, usual, async ({ world, count, dead, goodPolls }) => {
      for (let step = 0; step < STEPS; step += 1) {
        world.stepWall(step % 2 === 0 ? HOUR : -HOUR);
        await world.advance(10 * MINUTE);
      }
      const stepsOn = STEPS / 2;
      expect(count('login')).toBeLessThanOrEqual(LOGINS_AN_HOUR + stepsOn);
      // A slot that was stepped over is made up once; of both kinds.
      expect(count('leagues')).toBeLessThanOrEqual(pollsAnHour(everyMs) + stepsOn);
      expect(count('profile')).toBeLessThanOrEqual(PROFILES_AN_HOUR + stepsOn);
      expect(Math.max(...gaps(goodPolls()))).toBeLessThanOrEqual(everyMs + RUN_MS);
      expect(dead()).toBe(0);
    });
  });

  it.each([
    ['a day ahead', DAY],
    ['a day behind', -DAY],
  ])('that is set %s for good misses no slot, and logs in once more at most', async (_way, step) => {
    await play({ everyMs }, usual, async ({ world, count, dead, goodPolls }) => {
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
    'that was suspended for 8 hours that %s logs in once and polls within a slot',
    async (_what, knowing, expected) => {
      await play({ everyMs }, usual, async ({ world, service, worker, count, dead, goodPolls }) => {
        await world.advance(30 * MINUTE);
        const logins = count('login');
        world.suspend(8 * HOUR, ...knowing);
        const woke = world.elapsed();
        await world.advance(everyMs);
        expect(count('login')).toBe(logins + 1);
        expect(dead()).toBeLessThanOrEqual(expected.deadSent);
        const after = goodPolls().filter((at) => at > woke);
        expect(after[0]).toBeLessThanOrEqual(woke + everyMs + RUN_MS);
        // The one that was missed, made up once and at once, and the slot that comes in any case.
        expect(after.length).toBeGreaterThanOrEqual(1);
        expect(after.length).toBeLessThanOrEqual(1 + expected.madeUp);
        if (expected.madeUp > 0) expect(after[0]).toBeLessThanOrEqual(woke + RUN_MS);
        expect(service.seen.filter(({ at }) => at > woke).length).toBeLessThanOrEqual(6);
        expect(worker.ended.filter(({ report }) => report.error !== undefined)).toEqual([]);
      });
    },
  );
});

/** Every start has a session of its own, and tokens live in memory only (contract, 4): a login a start is the least. */
describe('a worker that is started anew every 10 s for 10 minutes', () => {
  const everyMs = MINUTE;
  const STARTS = 60;
  const LIFE_MS = 10 * SECOND;
  const STORM_MS = STARTS * LIFE_MS;
  /** Contract, 5: no poll at start where the last good one is under 30 s old. */
  const POLLS_AT_START = STORM_MS / (30 * SECOND) + 1;
  const SLOTS = STORM_MS / everyMs;

  async function storm(mood: Mood, plot: (stage: Stage) => Promise<void>): Promise<void> {
    await using stage = createStage({ everyMs });
    stage.service.feel(mood);
    for (let start = 0; start < STARTS; start += 1) {
      const worker = await stage.start();
      await stage.world.advance(LIFE_MS);
      await worker.stop();
    }
    await plot(stage);
    expect(stage.service.loginsAtOnce()).toBe(1);
  }

  async function expectGoodStart(stage: Stage): Promise<void> {
    await stage.start();
    await expectRecovery(stage, 0);
  }

  it('polls a service that is well twice a minute and at its slots, and logs in once a start', async () => {
    await storm(usual, async ({ world, count, goodPolls }) => {
      expect(count('login')).toBe(STARTS);
      expect(count('leagues')).toBeLessThanOrEqual(POLLS_AT_START + SLOTS);
      expect(count('profile')).toBeLessThanOrEqual(POLLS_AT_START + 1);
      expect(Math.max(...gaps([...goodPolls(), world.elapsed()]))).toBeLessThanOrEqual(30 * SECOND + LIFE_MS);
    });
  });

  it('sends a service that is down what each life may, which is bounded by the backoff of its session', async () => {
    // The first poll and the session share a login. Then come the profile's, a slot's, and the session's own, whose
    // waits are at least 0.5, 1, 2 and 4 s: four of them in ten seconds.
    const mostALife = ATTEMPTS * (1 + 1 + 1 + 4);
    await storm(
      () => fail(503),
      async (stage) => {
        expect(stage.service.seen.length).toBeLessThanOrEqual(STARTS * mostALife);
        expect(stage.count('leagues')).toBe(0);
        stage.service.feel(usual);
        await expectGoodStart(stage);
      },
    );
  });

  it('sends a service that refuses one login a start', async () => {
    await storm(
      (kind) => (kind === 'login' ? fail(401) : undefined),
      async (stage) => {
        expect(stage.service.seen).toHaveLength(STARTS);
        stage.service.feel(usual);
        await expectGoodStart(stage);
      },
    );
  });

  it('sends leagues that reject every token two requests and two logins a start', async () => {
    await storm(
      (kind) => (kind === 'leagues' ? fail(401) : undefined),
      async (stage) => {
        expect(stage.count('leagues')).toBeLessThanOrEqual(2 * STARTS);
        expect(stage.count('login')).toBeLessThanOrEqual(2 * STARTS);
        stage.service.feel(usual);
        await expectGoodStart(stage);
      },
    );
  });

  it.each(['leagues', 'login'] as const)('sends nothing at all once the %s have asked for a pause', async (asked) => {
    await storm(
      (kind) => (kind === asked ? fail(429, { 'retry-after': '900' }) : undefined),
      async (stage) => {
        // A login, and the leagues where it was granted.
        expect(stage.service.seen).toHaveLength(asked === 'login' ? 1 : 2);
        await stage.start();
        await expectRecovery(stage, 15 * MINUTE - STORM_MS);
      },
    );
  });
});

describe('the worker itself', () => {
  const settings = (url: string, path: string, more: Readonly<Record<string, string>> = {}) =>
    loadConfig({
      LEAGUE_SYNC_BASE_URL: url,
      LEAGUE_SYNC_USERNAME: 'player',
      LEAGUE_SYNC_PASSWORD: 'secret-password',
      LEAGUE_SYNC_DATABASE: path,
      // No slot comes meanwhile, whenever this is run.
      LEAGUE_SYNC_SCHEDULE: '0 0 29 2 *',
      ...more,
    });
  type Life = { readonly logged: (pattern: RegExp, times: number) => Promise<void>; readonly pollNow: () => void };

  /** One life over real HTTP, ended by a stop once the plot is over. */
  async function live(config: Config, plot: (life: Life) => Promise<void>): Promise<void> {
    const stopping = new AbortController();
    const lines: string[] = [];
    let pollNow = (): void => undefined;
    const running = runWorker(config, {
      log: pino({}, { write: (line: string) => lines.push(line) }),
      pid: process.pid,
      signal: stopping.signal,
      onPollNow: (poll) => {
        pollNow = poll;
      },
      copy: () => Promise.reject(new Error('nothing is copied here')),
    });
    const logged = async (pattern: RegExp, times: number): Promise<void> => {
      while (lines.filter((line) => pattern.test(line)).length < times) await wait(2);
    };
    await plot({ logged, pollNow: () => pollNow() }).finally(() => stopping.abort(new StoppedError()));
    await running;
  }

  it('started anew every 10 s for 10 minutes polls twice a minute, and logs in once a start', async () => {
    // Only the date is moved by hand: it is all that the start looks at, and the network needs its timers.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-20T12:02:03.456Z') });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const STARTS = 60;
    /** Contract, 5: none where the last good one is under 30 s old. */
    const POLLS = (STARTS * 10 * SECOND) / (30 * SECOND);
    using folder = makeFolder();
    await using service = await startScriptedService();
    const config = settings(service.url, folder.file('leagues.db'));
    for (let start = 0; start < STARTS; start += 1) {
      service.script('login', granted({}, { date: new Date().toUTCString() }));
      await live(config, async ({ logged }) => {
        await logged(/"msg":"logged in/, 1);
        await logged(/no poll at start|"outcome":"(changed|unchanged)"/, 2);
      });
      vi.setSystemTime(Date.now() + 10 * SECOND);
    }
    expect(service.seen('login')).toHaveLength(STARTS);
    expect(service.seen('leagues')).toHaveLength(POLLS);
    expect(service.seen('profile')).toHaveLength(POLLS);
  });

  it('whose credentials are refused logs in once for each SIGHUP, and polls with the one that is granted', async () => {
    const HANGUPS = 5;
    using folder = makeFolder();
    await using service = await startScriptedService();
    service.script('login', failed(401));
    const config = settings(service.url, folder.file('leagues.db'), { LEAGUE_SYNC_PROFILE_SCHEDULE: 'off' });
    await live(config, async ({ logged, pollNow }) => {
      await logged(/"run":"leagues".*"outcome":"failed"/, 1);
      for (let hangup = 1; hangup <= HANGUPS; hangup += 1) {
        pollNow();
        await logged(/"run":"leagues".*"outcome":"failed"/, 1 + hangup);
      }
      expect(service.requests).toHaveLength(1 + HANGUPS);
      service.script('login', granted());
      pollNow();
      await logged(/"run":"leagues".*"outcome":"unchanged"/, 1);
      expect(service.seen('login')).toHaveLength(1 + HANGUPS + 1);
      expect(service.seen('leagues')).toHaveLength(1);
    });
  });
});

/** The times between each and the next. */
function gaps(times: readonly number[]): readonly number[] {
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
}
