import { describe, expect, it } from 'vitest';
import { describeReport } from '../../src/sync/report.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { setUpBench } from '../support/worker-resources.ts';

// What is removed, held and accepted in any history of polls is tested in test/rigs/model, and the rules of the guard in
// unit/removal-guard.

describe('the guard', () => {
  it('says why it holds, here because of an element that it cannot read', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(12));
    const report = await bench.pollWith([...makeLeagues(3), 17]);
    expect(report.error).toBeUndefined();
    const why = 'held because elements without a readable league_id could be any of the missing leagues';
    expect(describeReport(report)).toContain(why);
    // One more is new, though the first has no readable league_id either.
    expect((await bench.pollWith([...makeLeagues(3), 17, 18])).newFindings?.rejections).toHaveLength(1);
  });

  it('has its share from the settings', async () => {
    await using bench = await setUpBench({}, { settings: { REMOVAL_LIMIT: '60%' } });
    await bench.pollWith(makeLeagues(10));
    expect(await bench.pollWith(makeLeagues(4))).toMatchObject({ outcome: 'changed', counts: { removed: 6 } });
  });

  it('releases a league that is listed again in a form that cannot be stored', async () => {
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(20));
    await bench.pollWith(makeLeagues(10));
    await bench.pollWith([...makeLeagues(9), makeLeague('l11', { sport: null })]);
    const held = bench.deps.store.holds.all();
    expect(held.size).toBe(10);
    expect(held.has('l11')).toBe(false);
    // That of l10 began last.
    expect(held.get('l10')?.guardSince).toBe(held.get('l12')?.guardSince);
  });
});

it.each([
  ['all', '/events/v1/leagues/'],
  ['active', '/events/v1/leagues/?status=active'],
  ['inactive', '/events/v1/leagues/?status=inactive'],
])('a filtered answer of scope %s is asked for with %s', async (scope, path) => {
  await using bench = await setUpBench({}, { settings: { STATUS: scope } });
  await bench.poll();
  expect(bench.service.seen('leagues').map((request) => request.path)).toEqual([path]);
  expect(bench.rows('SELECT scope FROM runs')).toEqual([{ scope }]);
});
