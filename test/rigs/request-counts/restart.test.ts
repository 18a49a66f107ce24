import { describe, expect, it } from 'vitest';
import { execute } from '../../support/database.ts';
import { type Behaviour, fail, healthy } from './service.ts';
import {
  createSimulation,
  DAY,
  expectRecovery,
  gaps,
  HOUR,
  MINUTE,
  RUN_MS,
  runScenario,
  SECOND,
} from './simulation.ts';

/** Contract, 5.1: at most four attempts, of a poll as of a login. */
const ATTEMPTS = 4;

/** Every start has a new session, and tokens are only in memory (contract, 4): one login per start is the minimum. */
describe('a worker that is restarted every 10 s for 10 minutes', () => {
  const STARTS = 60;
  const LIFE_MS = 10 * SECOND;
  const STORM_MS = STARTS * LIFE_MS;
  /** Contract, 5: no poll at start if the last good one is less than 30 s old. */
  const POLLS_AT_START = STORM_MS / (30 * SECOND) + 1;
  const SCHEDULED = STORM_MS / MINUTE;
  // The first poll and the session share a login. Then come the profile's, a scheduled run's and the session's, whose
  // waits are at least 0.5, 1, 2 and 4 s: four of them in ten seconds.
  const MOST_A_LIFE = ATTEMPTS * (1 + 1 + 1 + 4);

  it.each<[string, Behaviour, { login: number; leagues: number; profile: number }, goodAfterMs: number]>([
    [
      'a healthy service one login a start, two polls a minute, and those that are scheduled',
      healthy,
      { login: STARTS, leagues: POLLS_AT_START + SCHEDULED, profile: POLLS_AT_START + 1 },
      0,
    ],
    [
      'a service that is down no more per start than the backoff of a session allows',
      () => fail(503),
      { login: STARTS * MOST_A_LIFE, leagues: 0, profile: 0 },
      0,
    ],
    [
      'a service that rejects credentials one login per start',
      (kind) => (kind === 'login' ? fail(401) : undefined),
      { login: STARTS, leagues: 0, profile: 0 },
      0,
    ],
    [
      'leagues that reject every token two requests and two logins per start',
      (kind) => (kind === 'leagues' ? fail(401) : undefined),
      { login: 2 * STARTS, leagues: 2 * STARTS, profile: 2 * STARTS },
      0,
    ],
    [
      'nothing at all after a Retry-After for the login',
      (kind) => (kind === 'login' ? fail(429, { 'retry-after': '900' }) : undefined),
      { login: 1, leagues: 0, profile: 0 },
      15 * MINUTE - STORM_MS,
    ],
    [
      'nothing at all after a Retry-After for the leagues',
      (kind) => (kind === 'leagues' ? fail(429, { 'retry-after': '900' }) : undefined),
      { login: 1, leagues: 1, profile: 0 },
      15 * MINUTE - STORM_MS,
    ],
  ])('sends %s', async (_what, behaviour, most, goodAfterMs) => {
    await using simulation = createSimulation();
    const { world, service, count, goodPolls } = simulation;
    service.setBehaviour(behaviour);
    for (let start = 0; start < STARTS; start += 1) {
      const worker = await simulation.start();
      await world.advance(LIFE_MS);
      await worker.stop();
    }
    for (const kind of ['login', 'leagues', 'profile'] as const)
      expect(count(kind), kind).toBeLessThanOrEqual(most[kind]);
    expect(service.loginsAtOnce()).toBe(1);
    if (behaviour === healthy)
      expect(Math.max(...gaps([...goodPolls(), world.elapsed()]))).toBeLessThanOrEqual(30 * SECOND + LIFE_MS);
    else {
      service.setBehaviour(healthy);
      await simulation.start();
      await expectRecovery(simulation, goodAfterMs);
    }
  });
});

describe('a Retry-After', () => {
  it.each<[string, (now: number) => string]>([
    ['of 10 minutes', () => '600'],
    ['that is a date in 10 minutes', (now) => new Date(now + 10 * MINUTE).toUTCString()],
  ])('%s is kept to the second by all, and a poll follows at its end', async (_form, write) => {
    await using simulation = createSimulation({ everyMs: 5 * MINUTE });
    const { world, service } = simulation;
    service.setBehaviour(() => fail(429, { 'retry-after': write(world.now()) }));
    const worker = await simulation.start();
    await world.advance(HOUR - MINUTE);
    // One request after each Retry-After, and none during it.
    const times = service.seen.map(({ at }) => at);
    expect(times).toHaveLength(HOUR / (10 * MINUTE));
    for (const gap of gaps(times)) expect(gap).toBeGreaterThanOrEqual(10 * MINUTE);
    worker.pollNow();
    await world.advance(RUN_MS);
    expect(service.seen).toHaveLength(times.length);
    await expectRecovery(simulation, (times.at(-1) ?? 0) + 10 * MINUTE - world.elapsed());
  });

  it('that ends between two scheduled runs is followed by a poll as soon as it ends', async () => {
    // Longer than a run, and over before the first scheduled run.
    const ASKED_MS = 150 * SECOND;
    const behaviour: Behaviour = (kind) =>
      kind === 'leagues' ? fail(503, { 'retry-after': String(ASKED_MS / SECOND) }) : undefined;
    await runScenario({ everyMs: 5 * MINUTE }, behaviour, async (simulation) => {
      await simulation.world.advance(MINUTE);
      expect(simulation.count('leagues')).toBe(1);
      await expectRecovery(simulation, ASKED_MS - MINUTE);
      expect(simulation.count('leagues')).toBe(2);
    });
  });

  it('of two days ends after 24 hours, also for a worker that is restarted meanwhile, and then a poll follows', async () => {
    const twoDays = fail(429, { 'retry-after': String((2 * DAY) / SECOND) });
    const behaviour: Behaviour = (kind) => (kind === 'leagues' ? twoDays : undefined);
    await runScenario({ everyMs: 5 * MINUTE }, behaviour, async (simulation) => {
      const { world, service, worker } = simulation;
      await world.advance(12 * HOUR);
      const before = service.seen.length;
      await worker.stop();
      await simulation.start();
      await world.advance(12 * HOUR - MINUTE);
      expect(service.seen).toHaveLength(before);
      await expectRecovery(simulation, MINUTE);
    });
  });

  it('that a run was waiting for when the worker was killed holds for the next one', async () => {
    // Less than the time of a run.
    const asked = fail(429, { 'retry-after': '100' });
    await runScenario(
      {},
      (kind) => (kind === 'leagues' ? asked : undefined),
      async (simulation) => {
        const { world, service, worker, database } = simulation;
        await world.advance(10 * SECOND);
        await worker.stop();
        // As a kill leaves it.
        execute(
          database,
          "UPDATE runs SET outcome = 'running', finished_at = NULL, error_kind = NULL, error_message = NULL WHERE kind = 'leagues'",
        );
        const before = service.seen.length;
        await simulation.start();
        await world.advance(80 * SECOND);
        expect(service.seen).toHaveLength(before);
        await expectRecovery(simulation, 10 * SECOND);
      },
    );
  });
});
