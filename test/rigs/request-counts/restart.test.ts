import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Config, loadConfig } from '../../../src/config/config.ts';
import { readSettings } from '../../../src/config/environment.ts';
import { StoppedError } from '../../../src/errors.ts';
import { REAL_SYSTEM } from '../../../src/worker/resources.ts';
import { runWorker } from '../../../src/worker/worker.ts';
import { makeFolder } from '../../support/folder.ts';
import { grantLogin, startService } from '../../support/service.ts';
import { ATTEMPTS, expectRecovery, gaps } from './bounds.ts';
import { createSimulation, MINUTE, SECOND, type Simulation } from './counting.ts';
import { type Behaviour, fail, healthy } from './service.ts';

/** Every start has a new session, and tokens are only in memory (contract, 4): one login per start is the minimum. */
describe('a worker that is restarted every 10 s for 10 minutes', () => {
  const everyMs = MINUTE;
  const STARTS = 60;
  const LIFE_MS = 10 * SECOND;
  const STORM_MS = STARTS * LIFE_MS;
  /** Contract, 5: no poll at start if the last good one is less than 30 s old. */
  const POLLS_AT_START = STORM_MS / (30 * SECOND) + 1;
  const SCHEDULED = STORM_MS / everyMs;

  async function storm(behaviour: Behaviour, scenario: (simulation: Simulation) => Promise<void>): Promise<void> {
    await using simulation = createSimulation({ everyMs });
    simulation.service.setBehaviour(behaviour);
    for (let start = 0; start < STARTS; start += 1) {
      const worker = await simulation.start();
      await simulation.world.advance(LIFE_MS);
      await worker.stop();
    }
    await scenario(simulation);
    expect(simulation.service.loginsAtOnce()).toBe(1);
  }

  async function expectGoodStart(simulation: Simulation): Promise<void> {
    await simulation.start();
    await expectRecovery(simulation, 0);
  }

  it('polls a healthy service twice a minute and as scheduled, and logs in once per start', async () => {
    await storm(healthy, async ({ world, count, goodPolls }) => {
      expect(count('login')).toBe(STARTS);
      expect(count('leagues')).toBeLessThanOrEqual(POLLS_AT_START + SCHEDULED);
      expect(count('profile')).toBeLessThanOrEqual(POLLS_AT_START + 1);
      expect(Math.max(...gaps([...goodPolls(), world.elapsed()]))).toBeLessThanOrEqual(30 * SECOND + LIFE_MS);
    });
  });

  it('sends a service that is down no more per start than the backoff of a session allows', async () => {
    // The first poll and the session share a login. Then come the profile's, a scheduled run's and the session's, whose
    // waits are at least 0.5, 1, 2 and 4 s: four of them in ten seconds.
    const mostALife = ATTEMPTS * (1 + 1 + 1 + 4);
    await storm(
      () => fail(503),
      async (simulation) => {
        expect(simulation.service.seen.length).toBeLessThanOrEqual(STARTS * mostALife);
        expect(simulation.count('leagues')).toBe(0);
        simulation.service.setBehaviour(healthy);
        await expectGoodStart(simulation);
      },
    );
  });

  it('sends a service that rejects credentials one login per start', async () => {
    await storm(
      (kind) => (kind === 'login' ? fail(401) : undefined),
      async (simulation) => {
        expect(simulation.service.seen).toHaveLength(STARTS);
        simulation.service.setBehaviour(healthy);
        await expectGoodStart(simulation);
      },
    );
  });

  it('sends leagues that reject every token two requests and two logins per start', async () => {
    await storm(
      (kind) => (kind === 'leagues' ? fail(401) : undefined),
      async (simulation) => {
        expect(simulation.count('leagues')).toBeLessThanOrEqual(2 * STARTS);
        expect(simulation.count('login')).toBeLessThanOrEqual(2 * STARTS);
        simulation.service.setBehaviour(healthy);
        await expectGoodStart(simulation);
      },
    );
  });

  it.each(['leagues', 'login'] as const)('sends nothing at all after a Retry-After for the %s', async (asked) => {
    await storm(
      (kind) => (kind === asked ? fail(429, { 'retry-after': '900' }) : undefined),
      async (simulation) => {
        // A login, and a leagues request if it was granted.
        expect(simulation.service.seen).toHaveLength(asked === 'login' ? 1 : 2);
        await simulation.start();
        await expectRecovery(simulation, 15 * MINUTE - STORM_MS);
      },
    );
  });
});

describe('the worker itself', () => {
  const settings = (url: string, path: string, more: Readonly<Record<string, string>> = {}) =>
    loadConfig(
      readSettings({
        LEAGUE_SYNC_BASE_URL: url,
        LEAGUE_SYNC_USERNAME: 'player',
        LEAGUE_SYNC_PASSWORD: 'secret-password',
        LEAGUE_SYNC_DATABASE: path,
        LEAGUE_SYNC_LISTEN: 'off',
        // No run is scheduled meanwhile, whenever this test runs.
        LEAGUE_SYNC_SCHEDULE: '0 0 29 2 *',
        ...more,
      }),
      {},
    );
  type Life = { readonly logged: (pattern: RegExp, times: number) => Promise<void>; readonly pollNow: () => void };

  /** One worker over real HTTP, stopped after the scenario. */
  async function live(config: Config, scenario: (life: Life) => Promise<void>): Promise<void> {
    const stopping = new AbortController();
    const lines: string[] = [];
    let pollNow = (): void => undefined;
    const running = runWorker(config, {
      system: REAL_SYSTEM,
      log: pino({}, { write: (line: string) => lines.push(line) }),
      pid: process.pid,
      signal: stopping.signal,
      onPollNow: (poll) => {
        pollNow = poll;
      },
      copy: () => Promise.reject(new Error('nothing is copied here')),
      mirror: () => Promise.reject(new Error('nothing is mirrored here')),
    });
    const logged = async (pattern: RegExp, times: number): Promise<void> => {
      while (lines.filter((line) => pattern.test(line)).length < times) await wait(2);
    };
    await scenario({ logged, pollNow: () => pollNow() }).finally(() => stopping.abort(new StoppedError()));
    await running;
  }

  it('restarted every 10 s for 10 minutes polls twice a minute, and logs in once a start', async () => {
    // Only `Date` is simulated: the start depends on it, and the network needs real timers.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-20T12:02:03.456Z') });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const STARTS = 60;
    /** Contract, 5: none if the last good one is less than 30 s old. */
    const POLLS = (STARTS * 10 * SECOND) / (30 * SECOND);
    using folder = makeFolder();
    await using service = await startService();
    const config = settings(service.url, folder.file('leagues.db'));
    for (let start = 0; start < STARTS; start += 1) {
      service.script('login', grantLogin({}, { date: new Date().toUTCString() }));
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
    await using service = await startService({ login: { status: 401 } });
    const config = settings(service.url, folder.file('leagues.db'), { LEAGUE_SYNC_PROFILE_SCHEDULE: 'off' });
    await live(config, async ({ logged, pollNow }) => {
      await logged(/"kind":"leagues".*"outcome":"failed"/, 1);
      for (let hangup = 1; hangup <= HANGUPS; hangup += 1) {
        pollNow();
        await logged(/"kind":"leagues".*"outcome":"failed"/, 1 + hangup);
      }
      expect(service.requests).toHaveLength(1 + HANGUPS);
      service.script('login', grantLogin());
      pollNow();
      await logged(/"kind":"leagues".*"outcome":"unchanged"/, 1);
      expect(service.seen('login')).toHaveLength(1 + HANGUPS + 1);
      expect(service.seen('leagues')).toHaveLength(1);
    });
  });
});
