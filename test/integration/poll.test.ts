import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { addBlockingTrigger, dropBlockingTrigger } from '../support/blocking-trigger.ts';
import { createWallClock } from '../support/clock.ts';
import { holdForWriting, type Row, withDatabase } from '../support/database.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { listLeagues } from '../support/service.ts';
import { type Bench, lastRun, setUpBench } from '../support/worker-resources.ts';

function feed(bench: Bench): readonly Row[] {
  return bench.rows('SELECT * FROM league_changes ORDER BY seq').map((row) => ({
    ...row,
    before: typeof row.before === 'string' ? JSON.parse(row.before) : row.before,
    after: typeof row.after === 'string' ? JSON.parse(row.after) : row.after,
  }));
}

const EMPTY = {
  sport_db_id: null,
  active_season_type: null,
  active_year: null,
  external_id: null,
  external_odds_id: null,
  default_markets: null,
  default_tournaments: null,
  rankings: null,
  active_poll: null,
  state: null,
  city: null,
};
/** The whole league as the feed writes it. */
const whole = (league: Row): Row => ({ ...EMPTY, ...league, extra: {} });

const FULL = makeLeague('full', {
  sport_db_id: 'db-1',
  active_season_type: 'regular',
  active_year: '2026',
  external_id: 'ext',
  external_odds_id: 'odds',
  default_markets: ['moneyline', { id: 1 }],
  default_tournaments: true,
  rankings: false,
  active_poll: 'poll',
  state: 'NY',
  city: 'New York',
  last_update_datetime: 1_700_000_000_000,
});

it('a poll that changes the same field of many live leagues says so in its run', async () => {
  await using bench = await setUpBench();
  await bench.pollWith(makeLeagues(35));
  expect(lastRun(bench).unusual_change).toBeNull();
  await bench.pollWith([...makeLeagues(8, { sport: 'golf' }), ...makeLeagues(35).slice(8)]);
  expect(lastRun(bench).unusual_change).toBe('[{"field":"sport","count":8}]');
});

describe('the first load', () => {
  it('stores every league with every field, and says so in the feed and in its run', async () => {
    await using bench = await setUpBench();
    const report = await bench.pollWith([FULL, makeLeague('plain')]);
    const run = lastRun(bench);
    const at = run.finished_at;
    const stamps = {
      extra: '{}',
      first_seen_at: at,
      changed_at: at,
      removed_at: null,
      content_hash: expect.any(String),
    };
    expect(report).toMatchObject({ outcome: 'changed', attempts: 1, counts: { received: 2, added: 2 } });
    expect(bench.rows('SELECT * FROM leagues ORDER BY league_id')).toEqual([
      { ...FULL, default_markets: '["moneyline",{"id":1}]', default_tournaments: 1, rankings: 0, ...stamps },
      { ...EMPTY, ...makeLeague('plain'), ...stamps },
    ]);
    expect(feed(bench)).toEqual([
      { seq: 1, run_id: run.id, at, league_id: 'full', kind: 'added', before: null, after: whole(FULL) },
      {
        seq: 2,
        run_id: run.id,
        at,
        league_id: 'plain',
        kind: 'added',
        before: null,
        after: whole(makeLeague('plain')),
      },
    ]);
  });
});

describe('a departure from the interface', () => {
  it('is forgotten once a poll has stored it, and kept in memory if the poll fails', async () => {
    await using bench = await setUpBench();
    const drift = { field: 'leagues[].x', kind: 'unknown-field', detail: 'number' };
    addBlockingTrigger(bench.path, { on: 'INSERT ON drift' }, "RAISE(ABORT, 'not by me')");
    expect(await bench.pollWith([makeLeague('a', { x: 1 })])).toMatchObject({ outcome: 'failed' });
    expect(bench.deps.drift.list()).toMatchObject([drift]);
    dropBlockingTrigger(bench.path);
    expect(await bench.pollWith([makeLeague('a')])).toMatchObject({ newFindings: { drift: [drift] } });
    expect(bench.deps.drift.list()).toEqual([]);
  });

  it('is stored ten thousand times at most, since names that never repeat would fill the disk', async () => {
    await using bench = await setUpBench();
    const namesOf = (poll: number) => Array.from({ length: 900 }, (_, index) => [`x${poll}-${index}`, 1]);
    for (let poll = 0; poll < 12; poll += 1) await bench.pollWith([makeLeague('a', Object.fromEntries(namesOf(poll)))]);
    expect(bench.rows('SELECT count(*) AS n FROM drift')).toEqual([{ n: 10_000 }]);
    expect(lastRun(bench)).toMatchObject({ outcome: 'changed', changed: 1 });
  });
});

describe('the timestamp of a run', () => {
  it('is later than the one before, even if the clock is set back', async () => {
    const start = Date.UTC(2026, 10, 20, 12);
    const steps = [0, 0, -3_600_000, -1, 86_400_000, -86_400_000 * 400, 5];
    let now = start;
    await using bench = await setUpBench({}, { clock: createWallClock(() => now) });
    for (const [index, step] of steps.entries()) {
      now += step;
      bench.service.script(
        'leagues',
        index === 3 ? { status: 404 } : listLeagues([makeLeague('a', { priority: index })]),
      );
      await bench.poll();
    }
    const instants = bench.rows('SELECT finished_at AS at FROM runs ORDER BY id').map(({ at }) => String(at));
    expect(instants).toHaveLength(steps.length);
    expect(instants).toEqual([...new Set(instants)].toSorted());
    expect(instants[0]).toBe('2026-11-20T12:00:00.000Z');
    expect(instants[2]).toBe('2026-11-20T12:00:00.002Z');
    expect(bench.rows('SELECT at FROM league_changes ORDER BY seq').map(({ at }) => at)).toEqual(
      instants.toSpliced(3, 1),
    );
  });
});

describe('a run', () => {
  it('says when its data becomes stale, if it is a good poll of the leagues, and which login was made for it', async () => {
    await using bench = await setUpBench({}, { settings: { STALE_AFTER: '10m' } });
    await bench.pollWith(makeLeagues(10));
    expect(await bench.pollWith([])).toMatchObject({ outcome: 'held' });
    await bench.pollProfile();
    bench.service.script('leagues', { status: 404 });
    await bench.poll();
    const runs = bench.rows('SELECT kind, outcome, finished_at, stale_at FROM runs ORDER BY id');
    const minutes = runs.map(({ finished_at, stale_at }) =>
      stale_at === null ? null : Math.round((Date.parse(String(stale_at)) - Date.parse(String(finished_at))) / 60_000),
    );
    expect(runs.map(({ kind, outcome }, index) => [kind, outcome, minutes[index]])).toEqual([
      ['leagues', 'changed', 10],
      ['leagues', 'held', 10],
      ['profile', 'changed', null],
      ['leagues', 'failed', null],
    ]);
    expect(bench.rows('SELECT stale_at FROM freshness')).toEqual([{ stale_at: runs[1]?.stale_at }]);
    expect(bench.rows('SELECT outcome, run_id FROM logins')).toEqual([{ outcome: 'ok', run_id: 1 }]);
  });
});

describe('a poll', () => {
  it('that was stopped is interrupted, and its row says so', async () => {
    await using bench = await setUpBench();
    bench.service.script('leagues', () => bench.stop());
    expect(await bench.poll()).toMatchObject({ outcome: 'interrupted' });
    expect(lastRun(bench)).toMatchObject({ outcome: 'interrupted', error_kind: null });
  });
});

describe('readers and writers at the same time', () => {
  it('do not make a poll fail, nor see half of one', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(2));
    const reader = new Database(bench.path, { readonly: true });
    reader.exec('BEGIN');
    const names = () => reader.prepare('SELECT DISTINCT sport FROM leagues').pluck().all();
    expect(names()).toEqual(['soccer']);
    expect(await bench.pollWith(makeLeagues(2, { sport: 'chess' }))).toMatchObject({ outcome: 'changed' });
    expect(names()).toEqual(['soccer']);
    reader.exec('COMMIT');
    expect(names()).toEqual(['chess']);
    reader.close();
  });

  it('while another program writes, a poll that is stopped waits for it, to write that it was interrupted', async () => {
    await using bench = await setUpBench();
    let other: ReturnType<typeof holdForWriting> | undefined;
    bench.service.script('leagues', () => {
      other = holdForWriting(bench.path);
      bench.stop();
    });
    const polling = bench.poll();
    await expect.poll(() => other).toBeDefined();
    await sleep(300);
    other?.end();
    const report = await polling;
    expect(report.outcome).toBe('interrupted');
    expect(report.error).toBeUndefined();
    expect(lastRun(bench)).toMatchObject({ outcome: 'interrupted' });
  });
});

describe('the views', () => {
  it('tell in freshness the true age of a poll whose end lies in the future, since the clock was set back', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(3));
    withDatabase(bench.path, (db) => {
      const at = (modifier: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '${modifier}')`;
      db.exec(`UPDATE runs SET started_at = ${at('-10 minutes')}, finished_at = ${at('+1 day')}`);
    });
    const [freshness] = bench.rows('SELECT age_seconds FROM freshness');
    expect(Math.abs(Number(freshness?.age_seconds) - 600)).toBeLessThan(30);
  });
});
