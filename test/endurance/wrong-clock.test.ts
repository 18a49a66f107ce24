import { beforeEach, describe, expect, it } from 'vitest';
import { type Bench, leagueRequests, type SimulatedBench, setUp, setUpFor } from '../support/bench.ts';
import { startExpiringService } from '../support/expiring-service.ts';
import {
  makeFakeClock,
  missingFaketime,
  type Offset,
  runUnder,
  TWO_HOURS_MS,
  watchFor,
} from '../support/libfaketime.ts';
import type { LogLine, RunningProgram } from '../support/program.ts';

const EVERY_2_SECONDS = { LEAGUE_SYNC_SCHEDULE: '*/2 * * * * *' };
const LIFE_MS = 6_000;
/** How long tokens are watched, in seconds; CI may look for longer. */
const WATCHED_MS = Number(process.env.TEST_LONG ?? 9) * 1_000;
const LONG = { timeout: WATCHED_MS + 40_000 };
/** The `Date` header counts whole seconds, and a busy machine answers late. */
const SKEW_TOLERANCE_MS = 5_000;
const AHEAD = { sentence: 'two hours ahead', offset: '+2h', skewMs: -TWO_HOURS_MS, side: 'behind' } as const;
const BEHIND = { sentence: 'two hours behind', offset: '-2h', skewMs: TWO_HOURS_MS, side: 'ahead of' } as const;

beforeEach(({ skip }) => {
  const why = missingFaketime();
  skip(why !== undefined, why);
});

describe.each([AHEAD, BEHIND])('a clock that is $sentence', ({ offset, skewMs, side }) => {
  it('expires no token, and logins are as frequent as with a correct clock', LONG, async () => {
    const bench = await setUp({ tokenLifeMs: LIFE_MS });
    const worker = startWith(offset, bench, EVERY_2_SECONDS);
    await worker.waitForLog((line) => isClockWarning(line, side));
    await watchFor(WATCHED_MS);
    expect((await worker.stop()).code).toBe(0);

    expect(refused(bench)).toEqual([]);
    const logins = bench.simulator.requests.filter((seen) => seen.basic !== undefined).map((seen) => seen.at);
    const gaps = logins.slice(1).map((at, index) => at - (logins[index] ?? 0));
    expect(gaps.length).toBeGreaterThanOrEqual(Math.floor(WATCHED_MS / LIFE_MS));
    expect(Math.max(...gaps)).toBeLessThan(LIFE_MS);
    // Renewal is due after two thirds of the lifetime; less than half would be too often.
    expect(Math.min(...gaps)).toBeGreaterThan(LIFE_MS / 2);

    const all = bench.rows('SELECT outcome, reason, expires_at, clock_skew_ms FROM logins ORDER BY id');
    // The stop may interrupt a login.
    const rows = all.at(-1)?.outcome === 'failed' ? all.slice(0, -1) : all;
    expect(all).toHaveLength(logins.length);
    expect(rows.map((row) => `${row.outcome} ${row.reason}`)).toEqual(
      logins.slice(0, rows.length).map((_, n) => `ok ${n ? 'due' : 'start'}`),
    );
    for (const [index, row] of rows.entries()) {
      expect(Math.abs(Number(row.clock_skew_ms) - skewMs)).toBeLessThan(SKEW_TOLERANCE_MS);
      const lifeMs = Date.parse(String(row.expires_at)) - (logins[index] ?? 0);
      expect(Math.abs(lifeMs - LIFE_MS)).toBeLessThan(SKEW_TOLERANCE_MS);
    }
  });
});

// Such a token looks expired only by a clock that is ahead.
it('a clock that is two hours ahead takes one login for a token of an hour, however many polls follow', async () => {
  const bench = await setUp();
  const worker = startWith('+2h', bench, EVERY_2_SECONDS);
  await worker.waitForPoll('changed');
  // A token that looked expired from the first would be renewed after 10 s.
  for (let polls = 0; polls < 7; polls += 1) await worker.waitForPoll('unchanged');
  expect((await worker.stop()).code).toBe(0);

  expect(refused(bench)).toEqual([]);
  expect(bench.rows('SELECT outcome, reason FROM logins')).toEqual([{ outcome: 'ok', reason: 'start' }]);
});

describe('an expire_datetime without a zone', () => {
  it('is UTC on a machine in Tokyo whose clock is off', LONG, async () => {
    const spell = (instant: string) => instant.replace('T', ' ').replace('Z', '');
    const service = await startExpiringService({ lifeMs: LIFE_MS, spell });
    const bench = setUpFor(service.url);
    const worker = startWith('+2h', bench, { ...EVERY_2_SECONDS, TZ: 'Asia/Tokyo' });
    await worker.waitForPoll('changed');
    await watchFor(WATCHED_MS);
    await worker.stop();

    expect(service.late()).toEqual([]);
    expect(service.logins().length).toBeLessThanOrEqual(1 + Math.ceil(WATCHED_MS / (LIFE_MS / 2)));
    expect(bench.rows('SELECT expires_at FROM logins ORDER BY id').map((row) => row.expires_at)).toEqual(
      service.expiries,
    );
  });
});

function startWith(offset: Offset, bench: Bench, env: Readonly<Record<string, string>>): RunningProgram {
  return runUnder(makeFakeClock(bench.folder, offset), bench, env);
}

const WARN = 40;

function isClockWarning({ level, msg }: LogLine, side = '.*'): boolean {
  return level === WARN && new RegExp(`the service's clock is (120 min|2 h) ${side} this machine's`).test(String(msg));
}

/** The requests that the service rejected; one still in progress does not count. */
function refused({ simulator }: SimulatedBench) {
  expect(leagueRequests(simulator).length).toBeGreaterThan(1);
  return simulator.requests.filter((seen) => seen.status !== undefined && seen.status !== 200);
}
