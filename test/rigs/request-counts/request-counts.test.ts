import { describe, expect, it } from 'vitest';
import type { Kind } from '../../support/service.ts';
import { type Behaviour, fail, healthy, type Reply } from './service.ts';
import {
  DAY,
  expectRecovery,
  gaps,
  HOUR,
  MINUTE,
  RUN_MS,
  runScenario,
  SECOND,
  type SimulationOptions,
} from './simulation.ts';

type Counts = Readonly<Partial<Record<Kind, number>>>;

/** Contract, 5.1: at most four attempts, of a poll as of a login. */
const ATTEMPTS = 4;
/** The poll at start and the scheduled ones of one hour. */
const POLLS = 1 + HOUR / MINUTE;
/** The profile poll at start, and the one at the full hour. */
const PROFILES = 2;
/** A token with a lifetime of an hour is granted at start and renewed after 55 minutes (contract, 4). */
const LOGINS = 2;
/** What a service without faults gets in an hour. */
const USUAL = { login: LOGINS, leagues: POLLS, profile: PROFILES };
/**
 * The session's renewals while there is no token: at least 0.5, 1, 2 … 64 and 128 s apart, ten in the first five
 * minutes, and 150 s apart from then on. Each is a login of up to four attempts, and so is the login of each run.
 */
const RENEWALS_AT_FIRST = 10;
const RENEWALS = RENEWALS_AT_FIRST + HOUR / (150 * SECOND);
const LOGINS_WHILE_DOWN = ATTEMPTS * (RENEWALS + POLLS + PROFILES);
/** Contract, 4: no hammering. Renewed after 10, 20, 40, 80, 160 s and then every 5 minutes. */
const EXPIRED_ON_ARRIVAL_LOGINS = 1 + 5 + HOUR / (5 * MINUTE);
/** Contract, 4: the secret is re-read every 10 s. */
const SECRET_LOOK_MS = 10 * SECOND;

/** Contract, 4: after a refusal 1 min, doubling to 1 h. So tries come at 0, 1, 3, 7, 15, 31, 63 min and hourly after. */
function triesAfterRefusal(withinMs: number): number {
  let tries = 0;
  let wait = MINUTE;
  for (let at = 0; at < withinMs; at += wait, wait = Math.min(HOUR, 2 * wait)) tries += 1;
  return tries;
}
const TRIES = triesAfterRefusal(HOUR);

/** The minimum, the maximum and random jitter. */
const JITTERS: readonly [string, SimulationOptions][] = [
  ['by chance', {}],
  ['as short as can be', { random: () => 0 }],
  ['as long as can be', { random: () => 0.999_999 }],
];

const only =
  (kind: Kind, reply: Reply): Behaviour =>
  (asked) =>
    asked === kind ? reply : undefined;
const butLogin =
  (reply: Reply): Behaviour =>
  (asked) =>
    asked === 'login' ? undefined : reply;
const down: readonly (readonly [string, Behaviour])[] = [
  ['everything with 503', () => fail(503)],
  ['a login with 503', only('login', fail(503))],
];

type Hour = {
  readonly options?: SimulationOptions;
  readonly behaviour?: Behaviour;
  /** At most so many requests of each kind. */
  readonly most: Counts;
  /** At least so many. */
  readonly least?: Counts;
  readonly goodPolls?: number;
  /** After the service is healthy again, and after SIGHUP if it is 0. */
  readonly recoversWithinMs?: number;
  /** Expired tokens are sent, since they were sold as such. */
  readonly expired?: true;
};

const HOURS: Readonly<Record<string, Hour>> = {
  'a healthy service': { most: USUAL, least: USUAL, goodPolls: POLLS },
  'a service whose clock is two hours ahead': { options: { leadMs: 2 * HOUR }, most: USUAL, goodPolls: POLLS },
  'a service whose clock is two hours behind': { options: { leadMs: -2 * HOUR }, most: USUAL, goodPolls: POLLS },
  ...Object.fromEntries(
    down.flatMap(([what, behaviour]) =>
      JITTERS.map(([how, options]) => [
        `${what}, with waits ${how},`,
        { options, behaviour, most: { login: LOGINS_WHILE_DOWN, leagues: 0, profile: 0 }, recoversWithinMs: MINUTE },
      ]),
    ),
  ),
  // A rejected token, one login, a rejected fresh token: the run fails.
  'leagues and profile with 401': {
    behaviour: butLogin(fail(401)),
    most: { leagues: 2 * TRIES, profile: 2 * TRIES, login: LOGINS + 2 * TRIES },
    recoversWithinMs: 0,
  },
  'leagues and profile with result=fail and 200, which polls survive,': {
    behaviour: butLogin(fail(200)),
    most: { leagues: 2 * TRIES + POLLS, profile: 2 * TRIES + PROFILES, login: LOGINS + 2 * TRIES },
    recoversWithinMs: 0,
  },
  // The other kind is not kept waiting.
  ...Object.fromEntries(
    [401, 403].flatMap((status) => [
      [
        `a profile with ${status}`,
        {
          behaviour: only('profile', fail(status)),
          most: { leagues: POLLS, profile: 2 * TRIES, login: LOGINS + 2 * TRIES },
          goodPolls: POLLS,
        },
      ],
      [
        `leagues with ${status}`,
        {
          behaviour: only('leagues', fail(status)),
          most: { leagues: 2 * TRIES, profile: PROFILES, login: LOGINS + 2 * TRIES },
          least: { profile: PROFILES },
        },
      ],
    ]),
  ),
  // Renewal is due at two thirds of the lifetime, counted from when the login was sent.
  ...Object.fromEntries(
    (
      [
        ['that live 5 s', 5 * SECOND, HOUR / (5 * SECOND * (2 / 3)) + 1],
        ['that live a minute', MINUTE, HOUR / (MINUTE * (2 / 3)) + 1],
        ['that live 60 days', 60 * DAY, 1],
        ['that name no expiry', undefined, HOUR / (30 * MINUTE)],
      ] as const
    ).map(([life, lifeMs, login]) => [
      `tokens ${life}`,
      { options: { lifeMs }, most: { ...USUAL, login }, least: { leagues: POLLS }, goodPolls: POLLS },
    ]),
  ),
  'tokens that expired on arrival, but are accepted,': {
    options: { lifeMs: -MINUTE, takesDead: true },
    most: { ...USUAL, login: EXPIRED_ON_ARRIVAL_LOGINS },
    goodPolls: POLLS,
    expired: true,
  },
  'tokens that expired on arrival, and are rejected,': {
    options: { lifeMs: -MINUTE },
    most: { leagues: 2 * TRIES, profile: 2 * TRIES, login: TRIES + EXPIRED_ON_ARRIVAL_LOGINS },
    expired: true,
  },
  'a network that breaks every second request': {
    behaviour: (_kind, _at, nth) => (nth % 2 === 0 ? 'dies' : undefined),
    most: { leagues: 2 * POLLS, profile: 2 * PROFILES, login: 2 * LOGINS },
    goodPolls: POLLS,
  },
  // Contract, 5.1: neither is retried.
  'leagues that are not found': { behaviour: only('leagues', { status: 404 }), most: USUAL },
  'leagues that are redirected': { behaviour: only('leagues', { status: 302 }), most: USUAL },
  'an answer without a list': { behaviour: only('leagues', { status: 200 }), most: USUAL },
  // Four attempts per run; the other kind is not affected.
  'leagues with 503': { behaviour: only('leagues', fail(503)), most: { ...USUAL, leagues: ATTEMPTS * POLLS } },
  'leagues that die': { behaviour: only('leagues', 'dies'), most: { ...USUAL, leagues: ATTEMPTS * POLLS } },
  'a profile with 503': { behaviour: only('profile', fail(503)), most: { ...USUAL, profile: ATTEMPTS * PROFILES } },
  // Contract, 5.1: nothing is sent before the end of the Retry-After; requests after waits inside a run belong to it.
  'leagues with 429 and a Retry-After of 30 s': {
    behaviour: only('leagues', fail(429, { 'retry-after': '30' })),
    most: { ...USUAL, leagues: HOUR / (30 * SECOND) },
  },
  'leagues and profile with 429 and a Retry-After "soon"': {
    behaviour: butLogin(fail(429, { 'retry-after': 'soon' })),
    most: { login: LOGINS, leagues: ATTEMPTS * POLLS },
    least: { leagues: ATTEMPTS * POLLS },
    recoversWithinMs: MINUTE,
  },
  // Contract, 4: a response without success counts as rejected credentials.
  'a login that is not found': {
    behaviour: only('login', { status: 404 }),
    most: { login: TRIES, leagues: 0, profile: 0 },
  },
  // Neither rejected credentials nor a retry: the renewals of the session, and one request per run.
  'a login without a token': {
    behaviour: only('login', { status: 200, body: { result: 'success' } }),
    most: { login: RENEWALS + POLLS + PROFILES, leagues: 0, profile: 0 },
  },
};

describe('in one hour with a poll every minute', () => {
  it.each(Object.entries(HOURS))('%s costs no more requests than it may', async (_what, hour) => {
    const { options = {}, behaviour = healthy, most, least = {}, goodPolls, recoversWithinMs, expired } = hour;
    await runScenario(options, behaviour, async (simulation) => {
      const { world, count, dead, worker } = simulation;
      await world.advance(HOUR);
      for (const kind of ['login', 'leagues', 'profile'] as const) {
        expect(count(kind), kind).toBeLessThanOrEqual(most[kind] ?? Number.POSITIVE_INFINITY);
        expect(count(kind), kind).toBeGreaterThanOrEqual(least[kind] ?? 0);
      }
      if (goodPolls !== undefined) expect(simulation.goodPolls()).toHaveLength(goodPolls);
      if (expired === undefined) expect(dead()).toBe(0);
      if (recoversWithinMs === undefined) return;
      simulation.service.setBehaviour(healthy);
      if (recoversWithinMs === 0) worker.pollNow();
      await expectRecovery(simulation, recoversWithinMs);
    });
  });

  it.each([
    ['fails', fail(503), 1 + ATTEMPTS * RENEWALS_AT_FIRST],
    // The renewal is due 5 minutes before the expiry.
    ['is refused', fail(401), 1 + triesAfterRefusal(5 * MINUTE)],
  ])('a renewal that %s costs no poll until the token expires', async (_what, reply, mostLogins) => {
    const behaviour: Behaviour = (kind, at) => (kind === 'login' && at > 10 * MINUTE ? reply : undefined);
    await runScenario({}, behaviour, async (simulation) => {
      const { world, worker, count, dead, goodPolls } = simulation;
      await world.advance(HOUR - MINUTE);
      expect(worker.ended.filter(({ report }) => report.error !== undefined)).toEqual([]);
      expect(goodPolls().length).toBeGreaterThanOrEqual(POLLS - 2);
      expect(count('login')).toBeLessThanOrEqual(mostLogins);
      await world.advance(10 * MINUTE);
      expect(dead()).toBe(0);
    });
  });

  it('leagues that recover after rejecting fresh tokens are polled when the backoff ends', async () => {
    await runScenario({}, only('leagues', fail(401)), async (simulation) => {
      // Tries have come at 0, 1, 3 and 7 minutes; the next comes at 15.
      await simulation.world.advance(14 * MINUTE);
      await expectRecovery(simulation, MINUTE);
    });
  });

  it.each<[string, number]>([
    ['an hour', HOUR],
    ['twenty seconds', 20 * SECOND],
  ])('a network that is up for 7 minutes and down for 8 is used in every up, with tokens of %s', async (_, lifeMs) => {
    const [up, round] = [7 * MINUTE, 15 * MINUTE];
    const behaviour: Behaviour = (_kind, at) => (at % round > up ? 'dies' : undefined);
    await runScenario({ lifeMs }, behaviour, async (simulation) => {
      const { world, goodPolls, count, dead } = simulation;
      await world.advance(HOUR);
      for (const from of [0, round, 2 * round, 3 * round])
        expect(goodPolls().filter((at) => at > from && at <= from + MINUTE + RUN_MS)).not.toEqual([]);
      expect(count('leagues')).toBeLessThanOrEqual(ATTEMPTS * POLLS);
      expect(count('login')).toBeLessThanOrEqual(LOGINS_WHILE_DOWN + HOUR / ((lifeMs * 2) / 3) + 1);
      expect(dead()).toBe(0);
      await expectRecovery(simulation, MINUTE);
    });
  });
});

describe('credentials that are refused', () => {
  const refusing = only('login', fail(401));

  it('are tried after a minute, doubling to an hour, and by nothing else for six hours', async () => {
    await runScenario({}, refusing, async ({ world, service, count }) => {
      await world.advance(6 * HOUR);
      expect(count('login')).toBe(triesAfterRefusal(6 * HOUR));
      expect(service.seen).toHaveLength(count('login'));
      for (const [index, wait] of gaps(service.times('login')).entries())
        expect(wait).toBeGreaterThanOrEqual(Math.min(HOUR, MINUTE * 2 ** index));
    });
  });

  it('are tried once within ten seconds of each change of the secret, and a poll follows at once', async () => {
    await runScenario({}, healthy, async (simulation) => {
      const { world, service, secret, count } = simulation;
      service.setPassword('another');
      // The first login went out with the old password; the longest wait has come.
      await world.advance(2 * HOUR);
      const before = count('login');
      secret.password = 'wrong';
      await world.advance(2 * MINUTE);
      expect(count('login')).toBe(before + 1);
      secret.password = 'another';
      await expectRecovery(simulation, SECRET_LOOK_MS);
      expect(count('login')).toBe(before + 2);
    });
  });

  it('are tried at once on SIGHUP, and the wait that follows is no shorter for it', async () => {
    await runScenario({}, refusing, async (simulation) => {
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
});

describe('a machine whose clocks are wrong', () => {
  it('that steps an hour on and back every ten minutes costs a login and a poll for each step on', async () => {
    const STEPS = 6;
    await runScenario({}, healthy, async ({ world, count, dead, goodPolls }) => {
      for (let step = 0; step < STEPS; step += 1) {
        world.stepWall(step % 2 === 0 ? HOUR : -HOUR);
        await world.advance(10 * MINUTE);
      }
      const stepsOn = STEPS / 2;
      expect(count('login')).toBeLessThanOrEqual(LOGINS + stepsOn);
      // A scheduled run that a step skipped is made up once; one for each kind.
      expect(count('leagues')).toBeLessThanOrEqual(POLLS + stepsOn);
      expect(count('profile')).toBeLessThanOrEqual(PROFILES + stepsOn);
      expect(Math.max(...gaps(goodPolls()))).toBeLessThanOrEqual(MINUTE + RUN_MS);
      expect(dead()).toBe(0);
    });
  });

  it.each([
    ['a day ahead', DAY],
    ['a day behind', -DAY],
  ])('that stays set %s misses no scheduled run, and logs in at most once more', async (_way, step) => {
    await runScenario({}, healthy, async ({ world, count, dead, goodPolls }) => {
      await world.advance(10 * MINUTE);
      world.stepWall(step);
      await world.advance(50 * MINUTE);
      expect(count('login')).toBeLessThanOrEqual(LOGINS + 1);
      expect(count('leagues')).toBeLessThanOrEqual(POLLS + 1);
      expect(Math.max(...gaps(goodPolls()))).toBeLessThanOrEqual(MINUTE + RUN_MS);
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
    async (_what, knowing, due) => {
      await runScenario({}, healthy, async ({ world, service, worker, count, dead, goodPolls }) => {
        await world.advance(30 * MINUTE);
        const logins = count('login');
        world.suspend(8 * HOUR, ...knowing);
        const woke = world.elapsed();
        await world.advance(MINUTE);
        expect(count('login')).toBe(logins + 1);
        expect(dead()).toBeLessThanOrEqual(due.deadSent);
        const after = goodPolls().filter((at) => at > woke);
        expect(after[0]).toBeLessThanOrEqual(woke + (due.madeUp > 0 ? 0 : MINUTE) + RUN_MS);
        // The catch-up of the missed run, and the next scheduled one.
        expect(after.length).toBeLessThanOrEqual(1 + due.madeUp);
        expect(service.seen.filter(({ at }) => at > woke).length).toBeLessThanOrEqual(6);
        expect(worker.ended.filter(({ report }) => report.error !== undefined)).toEqual([]);
      });
    },
  );
});
