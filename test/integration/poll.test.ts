import { describe, expect, it } from 'vitest';
import { addBlockingTrigger, dropBlockingTrigger } from '../support/blocking-trigger.ts';
import { withDatabase } from '../support/database.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { lastRun, setUpBench } from '../support/worker-resources.ts';

it('a poll that changes the same field of many live leagues says so in its run', async () => {
  await using bench = await setUpBench();
  await bench.pollWith(makeLeagues(35));
  expect(lastRun(bench).unusual_change).toBeNull();
  await bench.pollWith([...makeLeagues(8, { sport: 'golf' }), ...makeLeagues(35).slice(8)]);
  expect(lastRun(bench).unusual_change).toBe('[{"field":"sport","count":8}]');
});

// Whole histories of polls, with every row of every table, are those of test/rigs/model.

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

it('a run says when its data becomes stale, if it is a good poll of the leagues, and which login was made for it', async () => {
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

it('the views tell in freshness the true age of a poll whose end lies in the future, since the clock was set back', async () => {
  await using bench = await setUpBench();
  await bench.pollWith(makeLeagues(3));
  withDatabase(bench.path, (db) => {
    const at = (modifier: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '${modifier}')`;
    db.exec(`UPDATE runs SET started_at = ${at('-10 minutes')}, finished_at = ${at('+1 day')}`);
  });
  const [freshness] = bench.rows('SELECT age_seconds FROM freshness');
  expect(Math.abs(Number(freshness?.age_seconds) - 600)).toBeLessThan(30);
});
