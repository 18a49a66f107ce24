import { describe, expect, it } from 'vitest';
import { dumpTables } from '../support/database.ts';
import { json } from '../support/service.ts';
import { type ServedBench, setUpBench } from '../support/worker-resources.ts';

const PLAYER = {
  player_id: 'p1',
  username: 'player',
  email: 'player@example.com',
  type: 'standard',
  verified: true,
  profile_pic: 'https://images.example.com/p1.png',
  first_name: 'Ada',
  last_name: 'L.',
};
const STORED = { ...PLAYER, verified: 1, premium_items: '[]', extra: '{}' };

async function pollWith(bench: ServedBench, player: unknown, rest: object = { player_premium_items: [] }) {
  bench.service.script('profile', json({ message: 'ok', player, ...rest }));
  return bench.pollProfile();
}

describe('the profile', () => {
  it('is asked for with the token and stored with all its fields', async () => {
    await using bench = await setUpBench();
    expect(await pollWith(bench, PLAYER)).toMatchObject({ kind: 'profile', outcome: 'changed' });
    const run = bench.rows('SELECT * FROM runs')[0];
    expect(bench.service.seen('profile')).toMatchObject([
      { method: 'GET', path: '/players/v1/players/player/me', body: '' },
    ]);
    expect(bench.rows('SELECT * FROM players')).toEqual([
      { ...STORED, first_seen_at: run?.finished_at, changed_at: run?.finished_at },
    ]);
    expect(run).toMatchObject({ kind: 'profile', scope: null, outcome: 'changed', received: 1, added: 1 });
    expect(bench.rows('SELECT * FROM drift')).toEqual([]);
  });

  it('that is as it was changes nothing but the runs', async () => {
    await using bench = await setUpBench();
    await pollWith(bench, { ...PLAYER, nickname: 'x' }, { player_premium_items: [{ a: 1, b: 2 }] });
    const { runs: _, ...before } = dumpTables(bench.path);
    const turned = Object.fromEntries(Object.entries({ ...PLAYER, nickname: 'x' }).reverse());
    const report = await pollWith(bench, turned, { player_premium_items: [{ b: 2, a: 1 }] });
    expect(report).toMatchObject({ outcome: 'unchanged', counts: { unchanged: 1 } });
    const { runs, ...after } = dumpTables(bench.path);
    expect(after).toEqual(before);
    expect(runs).toHaveLength(2);
  });

  it('that changed is written, and keeps when it was first seen', async () => {
    await using bench = await setUpBench();
    await pollWith(bench, PLAYER);
    expect(await pollWith(bench, { ...PLAYER, verified: false, last_name: null })).toMatchObject({
      outcome: 'changed',
      counts: { changed: 1 },
    });
    const [first, second] = bench.rows('SELECT finished_at AS at FROM runs ORDER BY id').map(({ at }) => at);
    expect(bench.rows('SELECT * FROM players')).toEqual([
      { ...STORED, verified: 0, last_name: null, first_seen_at: first, changed_at: second },
    ]);
  });

  it.each([
    ['no player', undefined],
    ['a player without an id', { username: 'x' }],
  ])('with %s fails the run and leaves what is stored', async (_, player) => {
    await using bench = await setUpBench();
    await pollWith(bench, PLAYER);
    const before = bench.rows('SELECT * FROM players');
    expect(await pollWith(bench, player)).toMatchObject({ outcome: 'failed', error: { kind: 'contract' } });
    expect(bench.rows('SELECT * FROM players')).toEqual(before);
  });
});
