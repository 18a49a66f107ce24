import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Config, loadConfig } from '../../../src/config/config.ts';
import { readSettings } from '../../../src/config/read-environment.ts';
import { fastFolder } from '../../support/folder.ts';
import { createSimulatedClock } from './clock.ts';
import { createJudge } from './judge.ts';
import { createRandom } from './random.ts';
import { createReader } from './reader.ts';
import { createService, RECEIVER_URL, SERVICE_URL } from './service.ts';

const SCHEDULES = ['5 */4 * * *', '*/20 */12 * * *', '0 1,5,9,13,17,21 * * *', '30 4 1,15 * 5', '17 3-15 * * 1-5'];
/** What an operator may change between two lives. */
const PROFILE_SCHEDULES = ['off', '0 */8 * * *', '40 3 * * *'];
const ZONES = ['UTC', 'Europe/London', 'America/New_York', 'Australia/Lord_Howe'];
const REMOVAL_LIMITS = [5, 20, 50];
const RETENTIONS = ['1d', '3d', '90d'];
/** A week with a change of clocks in Europe, one with another in America, and one without. */
const STARTS = ['2026-10-22T09:30:00.000Z', '2026-10-29T22:10:00.000Z', '2026-07-03T00:00:00.000Z'].map(Date.parse);
const WEBHOOK_SECRET = 'whsec_c2VjcmV0LW9mLWEtc2ltdWxhdGVkLXJlY2VpdmVy';
/** How long it is of interest when a login comes after it was refused. */
const REFUSAL_MS = 120_000;
/** How much longer short sleeps may last while that is so or a request is in flight, and otherwise. */
const SLACK_MS = { busy: 5_000, idle: [2_400_000, 2_400_000, 2_400_000, 120_000] };

/** The published copy. */
export const PUBLISHED = 'published.db';

export type Stage = ReturnType<typeof createStage>;

/** Everything around the worker that the seed determines, and who judges it. */
export function createStage(seed: number) {
  const random = createRandom(seed);
  const startAt = random.pick(STARTS);
  const time = createSimulatedClock(startAt);
  const { clock, elapsed } = time;
  const world = createService(time, startAt, random);
  const trace: string[] = [];
  const note = (text: string): unknown => trace.push(`${new Date(startAt + elapsed()).toISOString()} ${text}`);
  const reader = createReader(clock.now);
  const idleMs = random.pick(SLACK_MS.idle);
  const judge = createJudge(world, { ...{ elapsed, note, reader }, now: clock.now, slackMs: idleMs });
  const folder = mkdtempSync(join(fastFolder(), 'league-sync-simulation-'));
  const passwordFile = join(folder, 'password');
  const drawSettings = () => ({
    LEAGUE_SYNC_SCHEDULE: random.pick(SCHEDULES),
    LEAGUE_SYNC_PROFILE_SCHEDULE: random.pick(PROFILE_SCHEDULES),
    LEAGUE_SYNC_TIMEZONE: random.pick(ZONES),
    LEAGUE_SYNC_REMOVAL_LIMIT: `${random.pick(REMOVAL_LIMITS)}%`,
    LEAGUE_SYNC_RUN_RETENTION: random.pick(RETENTIONS),
  });
  let drawn = drawSettings();
  let isNew = true;
  let loaded: Config | undefined;
  /** The next slot, in elapsed ms; looked up once, until the clock reaches it or steps. */
  let slot = { at: Number.NEGATIVE_INFINITY, aheadMs: 0 };
  const nextSlot = (): number => {
    const aheadMs = clock.now() - elapsed();
    if (elapsed() >= slot.at || aheadMs !== slot.aheadMs)
      slot = { at: (loaded?.schedule.nextTime(clock.now()) ?? Number.POSITIVE_INFINITY) - aheadMs, aheadMs };
    return slot.at;
  };
  const load = (): Config => {
    const settings = {
      ...drawn,
      LEAGUE_SYNC_BASE_URL: SERVICE_URL,
      LEAGUE_SYNC_USERNAME: world.service.username,
      LEAGUE_SYNC_PASSWORD_FILE: passwordFile,
      LEAGUE_SYNC_LISTEN: 'off',
      LEAGUE_SYNC_WEBHOOK_URL: RECEIVER_URL,
      LEAGUE_SYNC_WEBHOOK_SECRET: WEBHOOK_SECRET,
      LEAGUE_SYNC_PUBLISH: join(folder, PUBLISHED),
    };
    return loadConfig(readSettings(settings), {});
  };

  return {
    ...{ random, time, clock, elapsed, world, judge, reader, trace, note, folder, nextSlot },
    /** The settings of the next life: now and then, a person has changed them. */
    config: (database: string): Config => {
      if (random.chance(0.3)) {
        drawn = drawSettings();
        isNew = true;
      }
      note(Object.values(drawn).join(', '));
      if (isNew || loaded === undefined) loaded = load();
      isNew = false;
      slot = { at: Number.NEGATIVE_INFINITY, aheadMs: 0 };
      judge.setSettings(loaded);
      return { ...loaded, database };
    },
    /** Gives the account a new password, here and at the service. */
    setPassword: (password: string): void => {
      world.service.password = password;
      const pair = `${world.service.username}:${password}`;
      for (const secret of [password, pair, Buffer.from(pair).toString('base64')]) world.secrets.add(secret);
      writeFileSync(passwordFile, `${password}\n`);
    },
    /** Lets time pass; while nothing is in flight, short sleeps may last minutes longer, but at most `most`. */
    pass: async (ms: number, isRunning: () => boolean = () => false, most = idleMs): Promise<void> => {
      const until = elapsed() + ms;
      while (elapsed() < until) {
        const last = world.requests.at(-1);
        const isRefused = last?.endpoint === 'login' && last.status === 401 && elapsed() - last.at < REFUSAL_MS;
        const isBusy = isRefused || (last !== undefined && last.endedAt === undefined);
        const slotAt = nextSlot();
        const slackMs = Math.min(most, isBusy ? SLACK_MS.busy : idleMs);
        await time.advance(Math.min(until, slotAt), random.chance(0.5) ? slackMs : random.int(0, slackMs));
        if (elapsed() === slotAt && isRunning()) judge.await('slot');
        if (isRunning()) judge.awaitProfile();
        judge.throwIfFailed();
      }
    },
    /** Waits for something that needs time to pass. Resolves to undefined if it fails. */
    during: async <T>(work: Promise<T>): Promise<T | undefined> => {
      let isOver = false;
      const over = work
        .catch(() => undefined)
        .finally(() => {
          isOver = true;
        });
      await time.settle();
      while (!isOver) {
        await time.advance(elapsed() + 1_000, 0);
        // Work that waits for something else than this clock must not hang.
        await setImmediate();
      }
      return over;
    },
    [Symbol.dispose]: (): void => {
      reader.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
