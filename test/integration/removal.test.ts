import { describe, expect, it } from 'vitest';
import { describeReport } from '../../src/sync/report.ts';
import { withDatabase } from '../support/database.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { listLeagues, type Service, startService } from '../support/service.ts';
import { type Bench, openBench, setUpBench } from '../support/worker-resources.ts';

/** One poll of a worker that was started with this scope. */
async function pollScope(folder: Folder, service: Service, scope: string, elements: readonly unknown[]) {
  await using bench = await openBench({ folder, url: service.url, settings: { STATUS: scope } });
  service.script('leagues', listLeagues(elements));
  const report = await bench.poll();
  return { report, rows: bench.rows };
}

/** Accepts removals like `accept-removals`. */
function accept(bench: Bench, which = 'accepted_at IS NULL'): void {
  withDatabase(bench.path, (db) =>
    db.exec(`UPDATE held_removals SET accepted_at = '2026-11-20T12:00:00.000Z' WHERE ${which}`),
  );
}

function heldIds(bench: Bench): readonly unknown[] {
  return bench.rows('SELECT league_id FROM held_removals ORDER BY league_id').map(({ league_id }) => league_id);
}

function removedIds(bench: Bench): readonly unknown[] {
  return bench
    .rows('SELECT league_id FROM leagues WHERE removed_at IS NOT NULL ORDER BY 1')
    .map(({ league_id }) => league_id);
}

describe('the guard', () => {
  it('goes on holding while the same list is sent, though what joined makes the share small', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(6));
    const others = Array.from({ length: 30 }, (_, index) => makeLeague(`new${index}`));
    expect(await bench.pollWith(others)).toMatchObject({ outcome: 'held', counts: { added: 30, held: 6 } });
    expect(await bench.pollWith(others)).toMatchObject({ outcome: 'held', counts: { held: 6, removed: 0 } });
    expect(removedIds(bench)).toEqual([]);
    accept(bench);
    expect(await bench.pollWith(others)).toMatchObject({ outcome: 'changed', counts: { removed: 6 } });
  });

  it.each([
    [makeLeagues(3), /held because more than 5 leagues, and more than 20% of those listed, would be removed at once/],
    [[], /held because the list is empty/],
    [[...makeLeagues(3), 17], /held because elements without a readable league_id could be any of the missing leagues/],
  ])('says why it holds', async (elements, why) => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(12));
    const report = await bench.pollWith(elements);
    expect(report.error).toBeUndefined();
    expect(describeReport(report)).toMatch(why);
  });

  it('has its share from the settings', async () => {
    await using bench = await setUpBench({}, { settings: { REMOVAL_LIMIT: '60%' } });
    await bench.pollWith(makeLeagues(10));
    expect(await bench.pollWith(makeLeagues(4))).toMatchObject({
      outcome: 'changed',
      counts: { removed: 6 },
    });
  });

  it('remembers since when it holds, and writes nothing while it goes on holding', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(10));
    await bench.pollWith(makeLeagues(4));
    const held = bench.rows('SELECT * FROM held_removals ORDER BY held_since, league_id');
    expect(held).toHaveLength(6);
    expect(held[0]).toEqual({
      league_id: 'l10',
      first_run_id: 2,
      held_since: bench.rows('SELECT finished_at FROM runs WHERE id = 2')[0]?.finished_at,
      accepted_at: null,
      guard_since: null,
      reason: 'limit',
    });
    expect(await bench.pollWith(makeLeagues(4))).toMatchObject({ outcome: 'held', counts: { held: 6 } });
    expect(bench.rows('SELECT * FROM held_removals ORDER BY held_since, league_id')).toEqual(held);
  });

  it('holds the rest of a list of which an accepted part came back, however often it comes', async () => {
    await using bench = await setUpBench({}, { settings: { REMOVAL_LIMIT: '30%' } });
    await bench.pollWith(makeLeagues(40));
    await bench.pollWith(makeLeagues(20));
    accept(bench, "league_id > 'l30'");
    await bench.pollWith(makeLeagues(20));
    expect(removedIds(bench)).toHaveLength(10);
    // Ten of thirty are missing; counting the ten that returned, it would be ten of forty.
    for (const restored of [10, 0]) {
      const back = [...makeLeagues(20), ...makeLeagues(40).slice(30)];
      expect(await bench.pollWith(back)).toMatchObject({ outcome: 'held', counts: { restored, held: 10 } });
    }
  });

  it('releases a league that is listed again in a form that cannot be stored', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(20));
    await bench.pollWith(makeLeagues(10));
    await bench.pollWith([...makeLeagues(10), makeLeague('l11', { sport: null })]);
    expect(heldIds(bench)).not.toContain('l11');
    expect(heldIds(bench)).toHaveLength(9);
  });

  it('counts as a good poll', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(3));
    await bench.pollWith([]);
    expect(bench.rows('SELECT last_outcome, consecutive_failures, live_leagues, held_removals FROM freshness')).toEqual(
      [{ last_outcome: 'held', consecutive_failures: 0, live_leagues: 3, held_removals: 3 }],
    );
  });
});

describe('accepted removals', () => {
  it('of the first that were held do not make those that followed a small share of what joined between', async () => {
    await using bench = await setUpBench();
    const others = Array.from({ length: 30 }, (_, index) => makeLeague(`new${index}`));
    await bench.pollWith(makeLeagues(20));
    await bench.pollWith([...makeLeagues(14), ...others]);
    const first = heldIds(bench);
    const followed = [...makeLeagues(8), ...others];
    expect(await bench.pollWith(followed)).toMatchObject({ outcome: 'held', counts: { held: 12 } });
    withDatabase(bench.path, (db) =>
      db.exec('UPDATE held_removals SET accepted_at = held_since WHERE first_run_id = 2'),
    );
    for (const removed of [6, 0]) {
      const report = await bench.pollWith(followed);
      expect(report).toMatchObject({ outcome: 'held', counts: { removed, held: 6 } });
    }
    expect(removedIds(bench)).toEqual(first);
  });

  it('end when the league is listed again', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(10));
    await bench.pollWith(makeLeagues(3));
    accept(bench);
    await bench.pollWith(makeLeagues(10));
    expect(heldIds(bench)).toEqual([]);
    expect(await bench.pollWith(makeLeagues(3))).toMatchObject({
      outcome: 'held',
      counts: { removed: 0, held: 7 },
    });
  });

  it('are kept by a poll that fails', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(10));
    await bench.pollWith(makeLeagues(3));
    accept(bench);
    bench.service.script('leagues', { status: 404 });
    await bench.poll();
    expect(bench.rows('SELECT count(accepted_at) AS n FROM held_removals')).toEqual([{ n: 7 }]);
  });
});

describe('a filtered answer', () => {
  const active = makeLeagues(3);
  const inactive = ['i1', 'i2'].map((id) => makeLeague(id, { status: 'inactive' }));

  it.each([
    ['all', '/events/v1/leagues/'],
    ['active', '/events/v1/leagues/?status=active'],
    ['inactive', '/events/v1/leagues/?status=inactive'],
  ])('of scope %s is asked for with %s', async (scope, path) => {
    using folder = makeFolder();
    await using service = await startService();
    const { rows } = await pollScope(folder, service, scope, []);
    expect(service.seen('leagues').map((request) => request.path)).toEqual([path]);
    expect(rows('SELECT scope FROM runs')).toEqual([{ scope }]);
  });

  it('removes nothing when the filter changes', async () => {
    using folder = makeFolder();
    await using service = await startService();
    await pollScope(folder, service, 'all', [...active, ...inactive]);
    expect((await pollScope(folder, service, 'active', active)).report).toMatchObject({ outcome: 'unchanged' });
    expect((await pollScope(folder, service, 'inactive', inactive)).report).toMatchObject({ outcome: 'unchanged' });
    const { report, rows } = await pollScope(folder, service, 'all', [...active, ...inactive]);
    expect(report).toMatchObject({ outcome: 'unchanged', counts: { unchanged: 5 } });
    expect(rows('SELECT league_id FROM leagues WHERE removed_at IS NOT NULL')).toEqual([]);
  });

  it('has its rows of another status stored, which drift says', async () => {
    using folder = makeFolder();
    await using service = await startService();
    const { report, rows } = await pollScope(folder, service, 'active', [...active, ...inactive]);
    expect(report).toMatchObject({ counts: { added: 5 } });
    expect(rows('SELECT field, kind FROM drift')).toEqual([{ field: 'leagues[].status', kind: 'unexpected-value' }]);
    const next = await pollScope(folder, service, 'active', active);
    expect(next.report).toMatchObject({ outcome: 'unchanged', counts: { removed: 0, held: 0 } });
  });

  it('resolves the rejections of its own scope and leaves those of others open', async () => {
    using folder = makeFolder();
    await using service = await startService();
    await pollScope(folder, service, 'inactive', [
      ...inactive,
      makeLeague('bad-i', { sport: null, status: 'inactive' }),
    ]);
    await pollScope(folder, service, 'active', [...active, makeLeague('bad-a', { sport: null })]);
    const open = 'SELECT league_id FROM rejected_leagues WHERE resolved_at IS NULL ORDER BY 1';
    expect((await pollScope(folder, service, 'active', active)).rows(open)).toEqual([{ league_id: 'bad-i' }]);
    expect((await pollScope(folder, service, 'all', [...active, ...inactive])).rows(open)).toEqual([]);
  });
});
