import { describe, expect, it } from 'vitest';
import { type Row, readExactRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { makeLeague } from '../support/leagues.ts';
import { listLeagues, startService } from '../support/service.ts';
import { type Bench, openBench, setUpBench } from '../support/worker-resources.ts';

/** A league as JSON text with one field written as given. */
function withRaw(field: string, text: string, id = 'a'): string {
  const { [field]: _, ...rest } = makeLeague(id);
  return `{${JSON.stringify(rest).slice(1, -1)},${JSON.stringify(field)}:${text}}`;
}

function column(bench: Bench, field: string): unknown {
  return readExactRows(bench.path, `SELECT ${field} AS value FROM leagues`)[0]?.value;
}

function drift(bench: Bench): readonly Row[] {
  return bench.rows('SELECT field, kind, detail FROM drift ORDER BY field, kind, detail');
}

describe('league_id', () => {
  it.each([
    ['12345678901234567890', '12345678901234567890', 'number'],
    ['9007199254740993', '9007199254740993', 'number'],
    ['-12345678901234567890123', '-12345678901234567890123', 'number'],
    ['42', '42', 'number'],
    ['1000000000000000000000', '1000000000000000000000', 'number'],
    ['"007"', '007', undefined],
    ['" x "', ' x ', undefined],
    ['"Müller 🏀"', 'Müller 🏀', undefined],
  ])('sent as %s keeps every digit and letter', async (text, stored, type) => {
    await using bench = await setUpBench();
    expect(await bench.pollWith([withRaw('league_id', text)])).toMatchObject({ outcome: 'changed' });
    expect(column(bench, 'league_id')).toBe(stored);
    const converted = { field: 'leagues[].league_id', kind: 'wrong-type', detail: 'number for string' };
    expect(drift(bench)).toEqual(type === undefined ? [] : [converted]);
    expect(bench.rows("SELECT after ->> '$.league_id' AS id FROM league_changes")).toEqual([{ id: stored }]);
    expect(await bench.pollWith([withRaw('league_id', text)])).toMatchObject({ outcome: 'unchanged' });
  });

  it('is the same league as a number and as a string', async () => {
    await using bench = await setUpBench();
    await bench.pollWith([withRaw('league_id', '12345678901234567890')]);
    expect(await bench.pollWith([withRaw('league_id', '"12345678901234567890"')])).toMatchObject({
      outcome: 'unchanged',
    });
  });

  it.each(['null', '""', 'true', '{}', '["a"]'])('sent as %s is unreadable', async (text) => {
    await using bench = await setUpBench();
    await bench.pollWith([makeLeague('b'), withRaw('league_id', text)]);
    expect(bench.rows('SELECT league_id, position FROM rejected_leagues')).toEqual([{ league_id: null, position: 1 }]);
  });
});

describe('priority', () => {
  it.each<[string, unknown]>([
    ['3', 3n],
    ['3.0', 3n],
    ['1.5', 1.5],
    ['-2', -2n],
    ['0', 0n],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-9007199254740993', -9_007_199_254_740_993n],
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['"7"', 7n],
    ['"1.25"', 1.25],
    ['1e300', 1e300],
  ])('sent as %s reads back so', async (text, stored) => {
    await using bench = await setUpBench();
    await bench.pollWith([withRaw('priority', text)]);
    expect(column(bench, 'priority')).toBe(stored);
    expect(readExactRows(bench.path, 'SELECT priority FROM league_versions')).toEqual([{ priority: stored }]);
    expect(await bench.pollWith([withRaw('priority', text)])).toMatchObject({ outcome: 'unchanged' });
  });

  it.each(['"high"', '""', '"1,5"', '" 7"', '"0x10"', '"Infinity"', 'null', 'true', '{}', '[1]'])(
    'sent as %s is a reason to reject the league',
    async (text) => {
      await using bench = await setUpBench();
      await bench.pollWith([makeLeague('b'), withRaw('priority', text)]);
      expect(bench.rows("SELECT league_id, problems ->> '$[0].path' AS path FROM rejected_leagues")).toEqual([
        { league_id: 'a', path: 'priority' },
      ]);
      expect(bench.rows('SELECT league_id FROM leagues')).toEqual([{ league_id: 'b' }]);
    },
  );
});

describe('create_datetime', () => {
  const field = 'create_datetime';

  it.each<[string, unknown]>([
    ['"2020-01-01T00:00:00Z"', '2020-01-01T00:00:00Z'],
    ['"yesterday"', 'yesterday'],
    ['""', ''],
    ['"12"', '12'],
    ['1700000000', 1_700_000_000n],
    ['1700000000000', 1_700_000_000_000n],
    ['1700000000.5', 1_700_000_000.5],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['9223372036854775808', '9223372036854775808'],
    ['9007199254740992', 9_007_199_254_740_992n],
    ['10000000000000000', 10_000_000_000_000_000n],
    ['1763640123456789000', 1_763_640_123_456_789_000n],
    ['1763640000000000000', 1_763_640_000_000_000_000n],
    ['1e16', 10_000_000_000_000_000n],
    ['-1e16', -10_000_000_000_000_000n],
    ['18446744073709552000', '18446744073709552000'],
    ['100000000000000000000', '100000000000000000000'],
    ['-9223372036854775809', '-9223372036854775809'],
    ['null', null],
    ['true', 'true'],
    ['false', 'false'],
    ['{"$date":{"$numberLong":"1"}}', '{"$date":{"$numberLong":"1"}}'],
    ['[2020,1,1]', '[2020,1,1]'],
  ])('sent as %s is stored', async (text, stored) => {
    await using bench = await setUpBench();
    await bench.pollWith([withRaw(field, text)]);
    expect(column(bench, field)).toEqual(stored);
    expect(readExactRows(bench.path, `SELECT ${field} AS value FROM league_versions`)).toEqual([{ value: stored }]);
    expect(drift(bench)).toEqual([]);
    expect(await bench.pollWith([withRaw(field, text)])).toMatchObject({ outcome: 'unchanged' });
  });

  it('that is missing is NULL and noted', async () => {
    await using bench = await setUpBench();
    const { [field]: _, ...rest } = makeLeague('a');
    await bench.pollWith([rest]);
    expect(column(bench, field)).toBe(null);
    expect(drift(bench)).toEqual([{ field: `leagues[].${field}`, kind: 'missing-field', detail: 'absent for any' }]);
  });
});

describe('last_update_datetime', () => {
  it('is stored by the same rules', async () => {
    await using bench = await setUpBench();
    const texts = ['"x"', '9007199254740993', '9223372036854775808', '{"a":1}', 'true', 'null'];
    await bench.pollWith([...texts.map((text, index) => withRaw('last_update_datetime', text, `l${index}`))]);
    const stored = readExactRows(bench.path, 'SELECT last_update_datetime AS value FROM leagues ORDER BY league_id');
    const expected = ['x', 9_007_199_254_740_993n, '9223372036854775808', '{"a":1}', 'true', null];
    expect(stored.map(({ value }) => value)).toEqual(expected);
  });
});

describe('default_markets', () => {
  it.each([
    ['[]', []],
    ['["a",{"b":[1,null]}]', []],
    ['[12345678901234567890,0.10000000000000000001]', []],
    ['{}', ['object for list']],
    ['{"b":1,"a":{"d":2,"c":3}}', ['object for list']],
    ['"moneyline"', ['string for list']],
    ['7', ['number for list']],
    ['12345678901234567890', ['number for list']],
    ['false', ['boolean for list']],
    ['"a \\u0000 NUL and \\"quotes\\""', ['string for list']],
  ])('sent as %s is stored as that JSON', async (text, details) => {
    await using bench = await setUpBench();
    await bench.pollWith([withRaw('default_markets', text)]);
    expect(column(bench, 'default_markets')).toBe(text);
    expect(bench.rows('SELECT default_markets FROM league_versions')).toEqual([{ default_markets: text }]);
    expect(drift(bench).map(({ detail }) => detail)).toEqual(details);
    expect(await bench.pollWith([withRaw('default_markets', text)])).toMatchObject({ outcome: 'unchanged' });
  });

  it('sent as null is NULL', async () => {
    await using bench = await setUpBench();
    await bench.pollWith([withRaw('default_markets', 'null')]);
    expect(bench.rows('SELECT default_markets FROM leagues')).toEqual([{ default_markets: null }]);
    expect(bench.rows('SELECT default_markets FROM league_versions')).toEqual([{ default_markets: null }]);
  });
});

describe('a field with a value of another type', () => {
  it.each<[string, string, unknown, string]>([
    ['sport_db_id', '12', '12', 'number for string'],
    ['external_id', '12345678901234567890', '12345678901234567890', 'number for string'],
    ['active_year', '2026', '2026', 'number for string'],
    ['rankings', '"true"', 1n, 'string for boolean'],
    ['default_tournaments', '"false"', 0n, 'string for boolean'],
    ['league_name', '76', '76', 'number for string'],
  ])('has %s converted from %s, which drift says', async (field, text, stored, detail) => {
    await using bench = await setUpBench();
    await bench.pollWith([withRaw(field, text)]);
    expect(column(bench, field)).toBe(stored);
    expect(column(bench, 'extra')).toBe('{}');
    expect(drift(bench)).toEqual([{ field: `leagues[].${field}`, kind: 'wrong-type', detail }]);
  });

  it.each([
    ['city', '{"name":"x"}', 'object for string'],
    ['city', 'true', 'boolean for string'],
    ['state', '["NY"]', 'list for string'],
    ['rankings', '1', 'number for boolean'],
    ['rankings', '"yes"', 'string for boolean'],
    ['default_tournaments', '[]', 'list for boolean'],
  ])('that fits nowhere keeps %s NULL and moves %s to extra', async (field, text, detail) => {
    await using bench = await setUpBench();
    await bench.pollWith([withRaw(field, text)]);
    expect(column(bench, field)).toBe(null);
    expect(column(bench, 'extra')).toBe(`{"${field}":${text}}`);
    expect(drift(bench)).toEqual([{ field: `leagues[].${field}`, kind: 'wrong-type', detail }]);
  });

  it('that holds a NUL goes to extra if it is optional, and rejects the league if it is not', async () => {
    await using bench = await setUpBench();
    await bench.pollWith([makeLeague('a', { city: 'x\0y' }), makeLeague('b', { sport: 'x\0y' })]);
    expect(bench.rows('SELECT league_id, city, extra FROM leagues')).toEqual([
      { league_id: 'a', city: null, extra: '{"city":"x\\u0000y"}' },
    ]);
    expect(bench.rows('SELECT league_id FROM rejected_leagues')).toEqual([{ league_id: 'b' }]);
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
    expect(drift(bench)).toEqual([
      { field: 'leagues[].big', kind: 'unknown-field', detail: 'number' },
      { field: 'leagues[].region', kind: 'unknown-field', detail: 'string' },
    ]);
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'a.b"c[0]', 'content_hash', 'removed_at', ''])(
    'is an ordinary one if it is called "%s"',
    async (name) => {
      await using bench = await setUpBench();
      await bench.pollWith([withRaw(name, '{"x":1}')]);
      expect(column(bench, 'extra')).toBe(`{${JSON.stringify(name)}:{"x":1}}`);
      expect(bench.rows('SELECT removed_at FROM leagues')).toEqual([{ removed_at: null }]);
      expect(await bench.pollWith([withRaw(name, '{"x":1}')])).toMatchObject({ outcome: 'unchanged' });
    },
  );

  it('is noted of the answer, too', async () => {
    using folder = makeFolder();
    await using service = await startService({
      leagues: listLeagues([makeLeague('a')], { page: 1, result: 'success' }),
    });
    await using bench = await openBench({ folder, url: service.url });
    await bench.poll();
    expect(drift(bench)).toEqual([{ field: 'leagues.page', kind: 'unknown-field', detail: 'number' }]);
  });

  it('keeps all digits of its numbers', async () => {
    await using bench = await setUpBench();
    await bench.pollWith([withRaw('serial', '[12345678901234567890,1e400,-9007199254740993]')]);
    expect(column(bench, 'extra')).toBe('{"serial":[12345678901234567890,1e400,-9007199254740993]}');
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

  it.each(['7', '"text"', 'null', '[]', '[1]', 'true', '{}', '12345678901234567890'])(
    'is kept as it was sent: %s',
    async (text) => {
      await using bench = await setUpBench();
      expect(await bench.pollWith([makeLeague('a'), text])).toMatchObject({
        counts: { received: 2, added: 1, rejected: 1 },
      });
      expect(bench.rows('SELECT league_id, raw FROM rejected_leagues')).toEqual([{ league_id: null, raw: text }]);
    },
  );

  it('that is nested too deeply for SQLite is rejected and hurts no other', async () => {
    await using bench = await setUpBench();
    await bench.pollWith([makeLeague('a'), withRaw('default_markets', '['.repeat(5_000) + ']'.repeat(5_000), 'deep')]);
    expect(bench.rows('SELECT league_id FROM leagues')).toEqual([{ league_id: 'a' }]);
    expect(bench.rows('SELECT count(*) AS n FROM rejected_leagues')).toEqual([{ n: 1 }]);
  });

  it('leaves the stored row of its league as it is, and live', async () => {
    await using bench = await setUpBench();
    await bench.pollWith([makeLeague('a'), makeLeague('b')]);
    const before = bench.rows('SELECT * FROM leagues');
    expect(await bench.pollWith([makeLeague('a'), makeLeague('b', { league_name: null, city: 'New' })])).toMatchObject({
      outcome: 'unchanged',
      counts: { unchanged: 1, rejected: 1, removed: 0, held: 0 },
    });
    expect(bench.rows('SELECT * FROM leagues')).toEqual(before);
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

  it('that say the same collapse', async () => {
    await using bench = await setUpBench();
    const a = makeLeague('a', { default_markets: { x: 1, y: 2 } });
    const turned = { ...Object.fromEntries(Object.entries(a).reverse()), default_markets: { y: 2, x: 1 } };
    expect(await bench.pollWith([a, turned, a])).toMatchObject({
      counts: { received: 3, added: 1, duplicates: 2, rejected: 0 },
    });
    expect(bench.rows('SELECT count(*) AS n FROM leagues')).toEqual([{ n: 1 }]);
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

  it('of which one cannot be stored contradict each other', async () => {
    await using bench = await setUpBench();
    const list = [makeLeague('x'), makeLeague('y'), makeLeague('a'), makeLeague('a', { sport: null })];
    expect(await bench.pollWith([...list])).toMatchObject({ counts: { added: 2, rejected: 2 } });
    expect(bench.rows('SELECT league_id FROM leagues ORDER BY 1')).toEqual([{ league_id: 'x' }, { league_id: 'y' }]);
  });
});
