import { beforeEach, describe, expect, it } from 'vitest';
import { leagueRequests, setUp } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';
import { waitForReadiness } from '../support/status-server.ts';
import { startReceiver } from '../support/webhook-receiver.ts';
import { makeFakeClock, missingFaketime, offsetTo, runUnder } from './libfaketime.ts';

const EVERY_5_MINUTES = { LEAGUE_SYNC_SCHEDULE: '*/5 * * * *' };
/** How long before a scheduled time the clock is set: enough for the scheduler to tick in between. */
const BEFORE_MS = 1_500;
/** A poll that comes later than this belongs to another scheduled time. */
const LATEST_MS = 60_000;

beforeEach(({ skip }) => {
  const why = missingFaketime();
  skip(why !== undefined, why);
});

describe('a clock that is set back while the worker runs', () => {
  it('by an hour, and right again, polls at the next scheduled time after each step, and makes up once for skipped runs', async () => {
    const bench = await setUp();
    const clock = makeFakeClock(bench.folder, offsetTo(Date.parse('2026-11-20T12:04:00.000Z')));
    const worker = runUnder(clock, bench, EVERY_5_MINUTES);
    await worker.waitForPoll('changed');
    const steps = [
      // An hour before the next scheduled time, and right again: skips twelve scheduled times.
      { scheduled: '2026-11-20T11:05:00.000Z', from: -BEFORE_MS },
      { scheduled: '2026-11-20T12:05:00.000Z', from: 60_000, trigger: 'catch-up' },
      { scheduled: '2026-11-20T12:10:00.000Z', from: -BEFORE_MS },
    ];
    for (const { scheduled, from } of steps) {
      clock.set(offsetTo(Date.parse(scheduled) + from));
      await worker.waitForPoll('unchanged');
    }
    expect((await worker.stop()).code).toBe(0);

    const [, ...runs] = bench.rows('SELECT trigger, started_at FROM runs ORDER BY id');
    expect(runs).toHaveLength(steps.length);
    for (const [index, { scheduled, from, trigger }] of steps.entries()) {
      const afterMs = Date.parse(String(runs[index]?.started_at)) - Date.parse(scheduled) - Math.max(0, from);
      expect(afterMs, scheduled).toBeGreaterThanOrEqual(0);
      expect(afterMs, scheduled).toBeLessThan(LATEST_MS);
      if (trigger !== undefined) expect(runs[index]?.trigger).toBe(trigger);
    }
    expect(leagueRequests(bench.simulator)).toHaveLength(1 + steps.length);
  });

  it('by a day, while polls fail, does not keep the data fresh: page and probe say so, and the receiver of the webhook is told', async () => {
    const [bench, receiver] = await Promise.all([setUp(), startReceiver()]);
    const clock = makeFakeClock(bench.folder, '+0');
    const env = { LEAGUE_SYNC_LISTEN: '127.0.0.1:0', LEAGUE_SYNC_STALE_AFTER: '3s' };
    const worker = runUnder(clock, bench, { ...receiver.env, ...env });
    const { url } = await worker.waitForLog((line) => line.url !== undefined);
    await worker.waitForPoll('changed');
    clock.set('-86400');
    await waitForReadiness(String(url), ['stale']);
    expect(await (await fetch(String(url))).text()).toMatch(/<title>✗ \d+ s old/);
    await eventually('the receiver is told', () => receiver.told().includes('data.stale'), 20_000);
    expect((await worker.stop()).code).toBe(0);
  });

  it('to before everything in the database, and right again, polls at once at start, and no timestamp goes backwards', async () => {
    const bench = await setUp({ leagues: [makeLeague('a'), makeLeague('b')] });
    const clock = makeFakeClock(bench.folder, offsetTo(Date.parse('2026-11-20T12:02:00.000Z')));
    const earlier = runUnder(clock, bench);
    await earlier.waitForPoll('changed');
    expect((await earlier.stop()).code).toBe(0);

    bench.simulator.setLeagues([makeLeague('a', { priority: 2 })]);
    clock.set('@1970-01-01 00:01:00');
    const worker = runUnder(clock, bench, EVERY_5_MINUTES);
    await worker.waitForPoll('changed');
    bench.simulator.setLeagues([makeLeague('a', { priority: 3 })]);
    // Fifty-six years of scheduled times.
    clock.set(offsetTo(Date.parse('2026-11-20T12:03:00.000Z')));
    await worker.waitForPoll('changed');
    expect((await worker.stop()).code).toBe(0);

    const runs = bench.rows('SELECT trigger, outcome, started_at, finished_at FROM runs ORDER BY id');
    expect(runs.map(({ trigger, outcome }) => `${trigger} ${outcome}`)).toEqual([
      'start changed',
      'start changed',
      'catch-up changed',
    ]);
    expect(String(runs[1]?.started_at)).toMatch(/^1970-01-01T00:01/);
    const ends = runs.map(({ finished_at }) => String(finished_at));
    expect(ends).toEqual([...new Set(ends)].sort());
    expect(bench.rows('SELECT DISTINCT at FROM league_changes ORDER BY seq').map(({ at }) => at)).toEqual(ends);
    const [, second, third] = ends;
    expect(bench.rows('SELECT league_id, changed_at, removed_at FROM leagues ORDER BY league_id')).toEqual([
      { league_id: 'a', changed_at: third, removed_at: null },
      { league_id: 'b', changed_at: second, removed_at: second },
    ]);
    expect(leagueRequests(bench.simulator)).toHaveLength(3);
  });
});
