import { describe, expect, it } from 'vitest';
import { readExactRows } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import { listLeagues } from '../support/service.ts';
import { setUpBench } from '../support/worker-resources.ts';

/** A league as JSON text with one field written as given. */
function withRaw(field: string, text: string, id = 'a'): string {
  const { [field]: _, ...rest } = makeLeague(id);
  return `{${JSON.stringify(rest).slice(1, -1)},${JSON.stringify(field)}:${text}}`;
}

/** What each value becomes is tested in unit/coerce; here, that the database keeps what it became. */
describe('a value of a league', () => {
  it.each<[string, string, unknown]>([
    ['league_id', '12345678901234567890', '12345678901234567890'],
    ['league_id', '"Müller 🏀"', 'Müller 🏀'],
    ['priority', '3.0', 3n],
    ['priority', '1.5', 1.5],
    ['priority', '9223372036854775807', 9_223_372_036_854_775_807n],
    ['priority', '"7"', 7n],
    ['create_datetime', '"12"', '12'],
    ['create_datetime', '1700000000.5', 1_700_000_000.5],
    ['create_datetime', '1763640123456789000', 1_763_640_123_456_789_000n],
    ['create_datetime', '9223372036854775808', '9223372036854775808'],
    ['create_datetime', 'true', 'true'],
    ['last_update_datetime', '9007199254740993', 9_007_199_254_740_993n],
    [
      'default_markets',
      '[12345678901234567890,0.10000000000000000001]',
      '[12345678901234567890,0.10000000000000000001]',
    ],
    ['default_markets', '{"b":1,"a":{"d":2,"c":3}}', '{"b":1,"a":{"d":2,"c":3}}'],
    ['default_markets', 'null', null],
    ['rankings', '"true"', 1n],
    ['city', '{"name":"x"}', null],
  ])('is stored: %s sent as %s', async (field, text, stored) => {
    await using bench = await setUpBench();
    expect(await bench.pollWith([withRaw(field, text)])).toMatchObject({ outcome: 'changed' });
    for (const relation of ['leagues', 'league_versions']) {
      expect(readExactRows(bench.path, `SELECT ${field} AS value FROM ${relation}`)).toEqual([{ value: stored }]);
    }
    expect(await bench.pollWith([withRaw(field, text)])).toMatchObject({ outcome: 'unchanged' });
  });
});

describe('a field that the interface does not name', () => {
  it('goes to extra, and to drift once, however many leagues and polls have it', async () => {
    await using bench = await setUpBench();
    const list = [makeLeague('a', { region: 'EU', big: 1 }), makeLeague('b', { region: 'US' })];
    await bench.pollWith([...list]);
    const first = bench.rows('SELECT * FROM drift');
    await bench.pollWith([...list.map((league) => ({ ...league, region: 'AS' }))]);
    expect(bench.rows('SELECT extra FROM leagues ORDER BY league_id')).toEqual([
      { extra: '{"region":"AS","big":1}' },
      { extra: '{"region":"AS"}' },
    ]);
    expect(bench.rows('SELECT * FROM drift')).toEqual(first);
    expect(bench.rows('SELECT field, kind, detail FROM drift ORDER BY field')).toEqual([
      { field: 'leagues[].big', kind: 'unknown-field', detail: 'number' },
      { field: 'leagues[].region', kind: 'unknown-field', detail: 'string' },
    ]);
  });

  it.each(['__proto__', 'content_hash', ''])('is an ordinary one if it is called "%s"', async (name) => {
    await using bench = await setUpBench();
    await bench.pollWith([withRaw(name, '{"x":1e400}')]);
    expect(bench.rows('SELECT extra FROM leagues')).toEqual([{ extra: `{${JSON.stringify(name)}:{"x":1e400}}` }]);
    expect(await bench.pollWith([withRaw(name, '{"x":1e400}')])).toMatchObject({ outcome: 'unchanged' });
  });
});

describe('an element that cannot be stored', () => {
  it('is one row, however often and wherever in the list it is sent', async () => {
    await using bench = await setUpBench();
    const bad = makeLeague('bad', { priority: 'high', b: 1, a: 2 });
    const turned = Object.fromEntries(Object.entries(bad).reverse());
    for (let time = 0; time < 10; time += 1) {
      const good = Array.from({ length: time + 2 }, (_, index) => makeLeague(`g${index}`));
      await bench.pollWith([...good.slice(0, time), time % 2 === 0 ? bad : turned, ...good.slice(time)]);
    }
    expect(bench.rows('SELECT * FROM rejected_leagues')).toEqual([
      {
        id: 1,
        first_run_id: 1,
        league_id: 'bad',
        position: 0,
        problems: expect.stringMatching(/^\[\{"path":"priority","message":"[^"]+"\}\]$/),
        raw: expect.any(String),
        first_seen_at: bench.rows('SELECT finished_at FROM runs WHERE id = 1')[0]?.finished_at,
        resolved_at: null,
        raw_hash: expect.any(String),
        scope: 'all',
      },
    ]);
    expect(JSON.parse(String(bench.rows('SELECT raw FROM rejected_leagues')[0]?.raw))).toEqual(bad);
  });

  it('is resolved by the poll without it, and reopened when it returns', async () => {
    await using bench = await setUpBench();
    const bad = makeLeague('bad', { status: 7.5, sport: null });
    const state = () => bench.rows('SELECT id, resolved_at FROM rejected_leagues');
    await bench.pollWith([makeLeague('a'), bad]);
    await bench.pollWith([makeLeague('a')]);
    const resolved = bench.rows('SELECT max(finished_at) AS at FROM runs')[0]?.at;
    expect(state()).toEqual([{ id: 1, resolved_at: resolved }]);
    await bench.pollWith([makeLeague('a')]);
    expect(state()).toEqual([{ id: 1, resolved_at: resolved }]);
    await bench.pollWith([makeLeague('a'), bad]);
    expect(state()).toEqual([{ id: 1, resolved_at: null }]);
  });

  it('is not resolved by a poll that failed', async () => {
    await using bench = await setUpBench({ leagues: [listLeagues([makeLeague('a'), 7]), { status: 404 }] });
    await bench.poll();
    await bench.poll();
    expect(bench.rows('SELECT resolved_at FROM rejected_leagues')).toEqual([{ resolved_at: null }]);
  });

  it('that is nested too deeply for SQLite is rejected and hurts no other', async () => {
    await using bench = await setUpBench();
    await bench.pollWith([makeLeague('a'), withRaw('default_markets', '['.repeat(5_000) + ']'.repeat(5_000), 'deep')]);
    expect(bench.rows('SELECT league_id FROM leagues')).toEqual([{ league_id: 'a' }]);
    expect(bench.rows('SELECT count(*) AS n FROM rejected_leagues')).toEqual([{ n: 1 }]);
  });
});

describe('duplicates', () => {
  it('of what cannot be stored collapse, so that the run counts what the database lists', async () => {
    await using bench = await setUpBench();
    const bad = makeLeague('bad', { sport: null });
    const turned = Object.fromEntries(Object.entries(bad).reverse());
    const good = ['x', 'y', 'z', 'zz', 'zzz'].map((id) => makeLeague(id));
    const counts = { received: 10, rejected: 2, duplicates: 3 };
    expect(await bench.pollWith([...good, bad, 7, turned, 7, bad])).toMatchObject({ counts });
    // A later list is counted like the first one.
    expect(await bench.pollWith([...good, bad, 7, turned, 7, bad])).toMatchObject({ counts });
    expect(bench.rows('SELECT open_rejections FROM freshness')).toEqual([{ open_rejections: 2 }]);
    expect(bench.rows('SELECT position FROM rejected_leagues')).toEqual([{ position: 5 }, { position: 6 }]);
  });

  it('that contradict each other are rejected, and the stored row stays', async () => {
    await using bench = await setUpBench();
    const others = ['x', 'y', 'z'].map((id) => makeLeague(id));
    await bench.pollWith([...others, makeLeague('a')]);
    const before = bench.rows('SELECT * FROM leagues');
    const contradiction = [makeLeague('a', { city: 'One' }), makeLeague('a', { city: 'Two' })];
    expect(await bench.pollWith([...others, ...contradiction])).toMatchObject({
      outcome: 'unchanged',
      counts: { received: 5, unchanged: 3, rejected: 2, removed: 0 },
    });
    expect(bench.rows('SELECT * FROM leagues')).toEqual(before);
    expect(bench.rows('SELECT league_id, position FROM rejected_leagues ORDER BY id')).toEqual([
      { league_id: 'a', position: 3 },
      { league_id: 'a', position: 4 },
    ]);
  });
});
