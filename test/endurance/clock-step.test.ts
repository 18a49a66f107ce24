import { beforeEach, describe, expect, it } from 'vitest';
import { type Bench, countLogins, EVERY_SECOND, leagueRequests, setUp, setUpFor } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import { makeFakeClock, missingFaketime, type Offset, runUnder, watchFor } from '../support/libfaketime.ts';
import { eventually } from '../support/program.ts';
import { fail, listLeagues, startService } from '../support/service.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SHORT_LIFE_MS = 6_000;
const SLOT_MS = 1_000;
/** Several checks of the clock by the worker. */
const SOME_LOOKS_MS = 4_000;
const POLLS_AFTER_A_STEP = 3;

beforeEach(({ skip }) => {
  const why = missingFaketime();
  skip(why !== undefined, why);
});

describe('a clock that is set while the worker runs', () => {
  // A step ahead may be a suspended machine, so it makes a token older; a step back must not make it younger.
  it.each<{ offset: Offset; lifeMs: number; logins?: number }>([
    { offset: '+2h', lifeMs: SHORT_LIFE_MS },
    { offset: '-2h', lifeMs: SHORT_LIFE_MS },
    { offset: '+2h', lifeMs: HOUR_MS, logins: 2 },
    { offset: '-2h', lifeMs: HOUR_MS, logins: 1 },
  ])(
    'by $offset and right again: tokens of $lifeMs ms stay alive, polls go on, the service is not hammered',
    async ({ offset, lifeMs, logins }) => {
      const bench = await setUp({ tokenLifeMs: lifeMs });
      const clock = makeFakeClock(bench.folder, '+0');
      const worker = runUnder(clock, bench, { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
      await worker.waitForPoll('changed');
      const startedAt = performance.now();
      for (const next of [offset, '+0'] as const) {
        clock.set(next);
        for (let polls = 0; polls < POLLS_AFTER_A_STEP; polls += 1) await worker.waitForPoll();
      }
      const elapsedMs = performance.now() - startedAt;
      const { requests } = bench.simulator;
      const polls = leagueRequests(bench.simulator).length;
      expect(requests.filter((seen) => seen.status !== undefined && seen.status !== 200)).toEqual([]);
      // One poll at start, one per scheduled time, one catch-up run after a step ahead; the watch may begin at a
      // scheduled time.
      expect(polls).toBeLessThanOrEqual(elapsedMs / SLOT_MS + 3);
      if (logins === undefined) {
        // Renewals are at least half a lifetime apart, except for one after a step ahead.
        expect(countLogins(bench.simulator)).toBeLessThanOrEqual(elapsedMs / (SHORT_LIFE_MS / 2) + 2);
      } else {
        expect(countLogins(bench.simulator)).toBe(logins);
      }
      expect((await worker.stop()).code).toBe(0);
      expect(bench.rows("SELECT id FROM runs WHERE outcome NOT IN ('changed', 'unchanged', 'interrupted')")).toEqual(
        [],
      );
      expect(bench.rows("SELECT id FROM logins WHERE outcome = 'refused' OR reason = 'rejected-token'")).toEqual([]);
    },
  );

  it('past two scheduled times catches up once, and set back again polls neither at once nor twice', async () => {
    const bench = await setUp();
    const clock = makeFakeClock(bench.folder, '+0');
    const worker = runUnder(clock, bench, { LEAGUE_SYNC_SCHEDULE: everyHourFrom(Date.now() + 40 * MINUTE_MS) });
    await worker.waitForPoll('changed');
    clock.set('+2h');
    await worker.waitForPoll('unchanged');
    await watchFor(SOME_LOOKS_MS);
    clock.set('+0');
    await watchFor(SOME_LOOKS_MS);
    await worker.stop();

    expect(leagueRequests(bench.simulator)).toHaveLength(2);
    // A second request during a run would have been skipped.
    expect(worker.log().filter((line) => /skipped/.test(String(line.msg)))).toEqual([]);
    expect(bench.rows('SELECT trigger, outcome FROM runs ORDER BY id')).toEqual([
      { trigger: 'start', outcome: 'changed' },
      { trigger: 'catch-up', outcome: 'unchanged' },
    ]);
    expect(countLogins(bench.simulator)).toBe(2);
  });

  it('back makes no timestamp in the database go backwards, and no restart mistakes a future poll for a recent one', async () => {
    const bench = await setUp({ leagues: [makeLeague('a')] });
    const clock = makeFakeClock(bench.folder, '+2h');
    const worker = runUnder(clock, bench);
    await worker.waitForPoll('changed');
    clock.set('+0');
    bench.simulator.setLeagues([makeLeague('a', { priority: 2 }), makeLeague('b')]);
    worker.send('SIGHUP');
    await worker.waitForPoll('changed');
    expect((await worker.stop()).code).toBe(0);
    bench.simulator.setLeagues([makeLeague('b')]);
    clock.set('-2h');
    const next = runUnder(clock, bench);
    await next.waitForPoll('changed');
    expect((await next.stop()).code).toBe(0);

    const runs = instants(bench, 'SELECT finished_at AS at FROM runs ORDER BY id');
    expect(runs).toHaveLength(3);
    expectToGrow(runs);
    expect(instants(bench, 'SELECT DISTINCT at FROM league_changes ORDER BY seq')).toEqual(runs);
    const [first, second, third] = runs;
    expect(bench.rows('SELECT league_id, first_seen_at, changed_at, removed_at FROM leagues ORDER BY 1')).toEqual([
      { league_id: 'a', first_seen_at: first, changed_at: third, removed_at: third },
      { league_id: 'b', first_seen_at: second, changed_at: second, removed_at: null },
    ]);
    expect(bench.rows('SELECT league_id FROM league_versions WHERE valid_to <= valid_from')).toEqual([]);
  });

  it('back does not make restarts poll again and again', async () => {
    const bench = await setUp();
    const clock = makeFakeClock(bench.folder, '+0');
    const worker = runUnder(clock, bench);
    await worker.waitForPoll('changed');
    clock.set('-2h');
    worker.send('SIGHUP');
    await worker.waitForPoll('unchanged');
    await worker.stop();
    const next = runUnder(clock, bench);
    const { msg } = await next.waitForLog((line) => line.kind === 'leagues');
    await next.stop();
    expect(msg).toMatch(/no poll at start/);
  });
});

describe('a Retry-After in seconds', () => {
  const PAUSE_S = 5;
  /** Far less than two hours, and more than a busy machine adds. */
  const LATEST_MS = 15_000;

  async function stepInPause(offset: Offset) {
    const pause = fail(503, { 'retry-after': String(PAUSE_S) });
    const service = await startService({ leagues: [pause, listLeagues([makeLeague('a')])] });
    const bench = setUpFor(service.url);
    const clock = makeFakeClock(bench.folder, '+0');
    const worker = runUnder(clock, bench, { LEAGUE_SYNC_RUN_TIMEOUT: '4s' });
    await worker.waitForPoll('failed');
    clock.set(offset);
    const polls = () => service.seen('leagues');
    return eventually('the poll follows', () => polls().length > 1 && polls(), LATEST_MS);
  }

  it('is not cut short by a step ahead', async () => {
    const [asked, next] = await stepInPause('+2h');
    expect((next?.beganAt ?? 0) - (asked?.endedAt ?? 0)).toBeGreaterThanOrEqual(PAUSE_S * 1_000 - 5);
  });

  it('is not prolonged by a step back', async () => {
    await stepInPause('-2h');
  });
});

/** A schedule with two runs a day, the first in the minute of this timestamp and the second an hour later. */
function everyHourFrom(instant: number): string {
  const at = new Date(instant);
  const hour = at.getUTCHours();
  return `${at.getUTCMinutes()} ${hour},${(hour + 1) % 24} * * *`;
}

function instants({ rows }: Bench, sql: string): readonly string[] {
  return rows(sql).map((row) => String(row.at));
}

function expectToGrow(all: readonly string[]): void {
  expect(all).toEqual([...new Set(all)].sort());
}
