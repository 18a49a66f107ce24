import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ContractError } from '../../src/errors.ts';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../src/league/json.ts';
import { LEAGUE_FIELDS } from '../../src/league/response-schemas.ts';
import { parseLeagues } from '../../src/service/parse-leagues.ts';
import { bodyOf, parseAnswer, parseElements } from '../support/league-lists.ts';
import { makeLeague } from '../support/leagues.ts';

const text = readFileSync(new URL('../../src/simulator/leagues.json', import.meta.url), 'utf8');
const bundled = parseJson(text);

/** A list with many other elements, so that these are a minority. */
function among(...elements: readonly JsonValue[]): readonly JsonValue[] {
  const good = elements.map((_, index) => makeLeague(`good-${index}`));
  return [...good, ...elements];
}

function nested(levels: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe('the real leagues', async () => {
  const list = await parseAnswer(text);
  const sent = isObject(bundled) ? (bundled.leagues as readonly JsonObject[]) : [];

  it('are all read', () => {
    expect(list.received).toBe(124);
    expect(list.leagues.size).toBe(124);
    expect(list.rejections).toEqual([]);
    expect(list.duplicates).toBe(0);
  });

  it('have only unknown fields as drift', () => {
    const named = new Set<string>(LEAGUE_FIELDS.map(({ name }) => name));
    const unknown = new Set(sent.flatMap((league) => Object.keys(league)).filter((name) => !named.has(name)));
    const found = list.drift.filter(({ kind }) => kind === 'unknown-field').map(({ field }) => field);
    expect(found.sort()).toEqual([...unknown].map((name) => `leagues[].${name}`).sort());
    expect(list.drift.filter(({ kind }) => kind !== 'unknown-field')).toEqual([]);
  });

  it('keep every field as it was sent', () => {
    for (const element of sent) {
      const league = list.leagues.get(String(element.league_id))?.league;
      for (const { name, type } of LEAGUE_FIELDS) {
        const value = element[name] ?? null;
        expect(league?.[name]).toEqual(type === 'json' && value !== null ? JSON.stringify(value) : value);
      }
    }
  });
});

describe('a list of leagues', () => {
  it.each<[string, JsonValue]>([
    ['is missing', {}],
    ['is null', { leagues: null }],
    ['is an object', { leagues: { 0: makeLeague('l1') } }],
    ['is a text', { leagues: '[]' }],
  ])('that %s is a failure', async (_what, answer) => {
    await expect(parseAnswer(JSON.stringify(answer))).rejects.toThrow(ContractError);
  });

  it('may be empty', async () => {
    expect(await parseElements([])).toMatchObject({ received: 0, rejections: [], duplicates: 0, drift: [] });
  });

  it('may be in a response with unknown fields, which are drift', async () => {
    const answer = { result: 'success', message: 'ok', timestamp: null, next_page: 2, leagues: [] };
    expect((await parseAnswer(JSON.stringify(answer))).drift).toEqual([
      { field: 'leagues.next_page', kind: 'unknown-field', detail: 'number' },
    ]);
  });

  it('may contain a league of another status than requested, which is stored and is drift', async () => {
    const list = await parseElements([makeLeague('l1', { status: 'inactive' })], 'active');
    expect(list.leagues.get('l1')?.league.status).toBe('inactive');
    expect(list.drift).toEqual([
      {
        field: 'leagues[].status',
        kind: 'unexpected-value',
        detail: 'not active, which was asked for',
        example_league_id: 'l1',
      },
    ]);
  });

  it.each(['archived', 'Active', ''])('may contain a league with the status "%s", which is drift', async (status) => {
    const [known, other] = [makeLeague('l1'), makeLeague('l2', { status })];
    const departure = { field: 'leagues[].status', kind: 'unexpected-value', detail: 'neither active nor inactive' };
    const first = await parseElements([known, other]);
    expect(first.leagues.get('l2')?.league.status).toBe(status);
    expect(first.drift).toEqual([{ ...departure, example_league_id: 'l2' }]);
    // A stored league with this status is drift as well, since an earlier version stored such leagues without it.
    const stored = new Map([...first.leagues].map(([id, { hash }]) => [id, hash]));
    const again = await parseLeagues(bodyOf(JSON.stringify({ leagues: [known, other] })), 'all', { stored });
    expect(again.drift).toContainEqual({ ...departure, example_league_id: 'l2' });
    expect(again.leagues.get('l2')?.hash).toBe(stored.get('l2'));
  });

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['18446744073709551616', '18446744073709551616'],
    ['42', '42'],
    ['"0042"', '0042'],
    ['"9007199254740993"', '9007199254740993'],
  ])('keeps every digit of the id %s', async (sent, id) => {
    const answer = JSON.stringify({ leagues: [makeLeague('l1')] }).replace('"l1"', sent);
    expect([...(await parseAnswer(answer)).leagues.keys()]).toEqual([id]);
  });
});

describe('an element', () => {
  it.each(['league_name', 'sport', 'league_image', 'priority', 'status'])(
    'without %s is rejected, and its id is known',
    async (name) => {
      const { rejections, leagues } = await parseElements(among(makeLeague('l1', { [name]: undefined })));
      const problems = [{ path: name, message: 'is missing' }];
      expect(rejections).toMatchObject([{ leagueId: 'l1', position: 1, problems }]);
      expect([...leagues.keys()]).toEqual(['good-0']);
    },
  );

  it.each(['create_datetime', 'last_update_datetime'])('without %s is stored, with drift', async (name) => {
    const { leagues, drift } = await parseElements([makeLeague('l1', { [name]: undefined })]);
    expect(leagues.get('l1')?.league).toMatchObject({ [name]: null });
    const departure = { field: `leagues[].${name}`, kind: 'missing-field', detail: 'not sent' };
    expect(drift).toEqual([{ ...departure, example_league_id: 'l1' }]);
  });

  it('with null in every optional field is the same as one without them', async () => {
    const optional = LEAGUE_FIELDS.filter(({ presence }) => presence === 'optional').map(({ name }) => [name, null]);
    const list = await parseElements([makeLeague('l1', Object.fromEntries(optional))]);
    const bare = await parseElements([makeLeague('l1')]);
    expect(list.leagues.get('l1')).toEqual(bare.leagues.get('l1'));
    expect(list.drift).toEqual([]);
  });

  it.each<[string, JsonValue]>([
    ['null', null],
    ['a text', 'l1'],
    ['a list', [makeLeague('l1')]],
    ['a number', 1],
    ['an object without an id', makeLeague('l1', { league_id: undefined })],
    ['an object with an empty id', makeLeague('l1', { league_id: '' })],
    ['an object with null for its id', makeLeague('l1', { league_id: null })],
    ['an object with an object for its id', makeLeague('l1', { league_id: { id: 'l1' } })],
    ['an object with a NUL in its id', makeLeague('l\u00001')],
    ['a list that is nested too deeply', nested(600)],
    [
      'an object without an id that is nested too deeply',
      { ...makeLeague('l1', { league_id: undefined }), city: nested(600) },
    ],
  ])('that is %s is rejected as unreadable', async (_what, element) => {
    const { rejections, leagues } = await parseElements(among(element));
    expect(rejections).toMatchObject([{ leagueId: null, position: 1 }]);
    expect([...leagues.keys()]).toEqual(['good-0']);
  });

  it.each<[JsonValue, string]>([
    ['l1', 'l1'],
    [17, '17'],
  ])(
    'that is nested so deeply that a recursion would overflow is rejected under its id %j',
    async (league_id, leagueId) => {
      const markets = '['.repeat(100_000) + ']'.repeat(100_000);
      const elements = among(makeLeague('l1', { league_id, default_markets: 'deep' }));
      const answer = JSON.stringify({ message: 'ok', leagues: elements }).replace('"deep"', markets);
      const { rejections, leagues } = await parseAnswer(answer);
      expect(rejections).toMatchObject([{ leagueId, problems: [{ path: '', message: 'is nested too deeply' }] }]);
      expect([...leagues.keys()]).toEqual(['good-0']);
    },
  );

  it('with more than 10,000 fields is rejected, and only its id is kept', async () => {
    const fields = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field-${index}`, index]));
    const { rejections, leagues } = await parseElements(among(makeLeague('l1', fields)));
    expect(rejections).toMatchObject([{ leagueId: 'l1', problems: [{ path: '', message: 'has too many fields' }] }]);
    expect(JSON.parse(rejections[0]?.raw ?? '')).toEqual({ league_id: 'l1', note: 'has too many fields to be kept' });
    expect([...leagues.keys()]).toEqual(['good-0']);
  });

  it('that is longer than 100,000 characters is rejected without a text of its own, but as itself', async () => {
    const elements = ['a', 'b', 'b'].map((last) => ({ league_id: 'l1', big: 'x'.repeat(100_000) + last }));
    const { rejections, duplicates } = await parseElements(among(...elements));
    expect(duplicates).toBe(1);
    expect(rejections.map(({ raw }) => JSON.parse(raw))).toEqual([
      { league_id: 'l1', note: 'is too long to be kept (100028 characters)', sha256: expect.any(String) },
      expect.objectContaining({ league_id: 'l1' }),
    ]);
  });

  it('that is nested as deeply as a database can read is stored', async () => {
    const { leagues } = await parseElements([makeLeague('l1', { default_markets: nested(400) })]);
    expect(leagues.get('l1')?.league.default_markets).toBe(JSON.stringify(nested(400)));
  });

  it('with several problems names all of them', async () => {
    const { rejections } = await parseElements(among(makeLeague('l1', { sport: null, priority: 'first' })));
    expect(rejections[0]?.problems.map(({ path }) => path)).toEqual(['sport', 'priority']);
  });
});

describe('a league that is sent twice', () => {
  it('with the same content is one', async () => {
    const list = await parseElements([
      makeLeague('l1', { city: 'Rome', state: 'IT' }),
      makeLeague('l1', { state: 'IT', city: 'Rome' }),
    ]);
    expect(list).toMatchObject({ received: 2, duplicates: 1, rejections: [] });
    expect(list.leagues.size).toBe(1);
  });

  it('with different content is rejected, both times', async () => {
    const list = await parseElements(among(makeLeague('l1', { priority: 1 }), makeLeague('l1', { priority: 2 })));
    expect([...list.leagues.keys()]).toEqual(['good-0', 'good-1']);
    expect(list.rejections.map(({ leagueId, position }) => [leagueId, position])).toEqual([
      ['l1', 2],
      ['l1', 3],
    ]);
  });

  it('once with a problem is rejected, both times', async () => {
    const list = await parseElements(among(makeLeague('l1'), makeLeague('l1', { sport: undefined })));
    expect(list.rejections.map(({ leagueId, position }) => [leagueId, position])).toEqual([
      ['l1', 2],
      ['l1', 3],
    ]);
  });

  it('and a third time with different content is rejected, once per content', async () => {
    const list = await parseElements(among(makeLeague('l1'), makeLeague('l1'), makeLeague('l1', { priority: 2 })));
    expect(list.rejections.map(({ position }) => position)).toEqual([3, 5]);
    expect(list.duplicates).toBe(1);
  });
});

describe('a list with many rejections', () => {
  const bad = (count: number) => Array.from({ length: count }, (_, index) => makeLeague(`b${index}`, { sport: null }));
  const good = (count: number) => Array.from({ length: count }, (_, index) => makeLeague(`g${index}`));

  it('is accepted up to a half', async () => {
    expect(await parseElements([...good(5), ...bad(5)])).toMatchObject({ received: 10 });
  });

  it('fails from more than a half, naming the first problems', async () => {
    await expect(parseElements([...bad(6), ...good(5)])).rejects.toThrow(
      'leagues[0] sport is null; leagues[1] sport is null; leagues[2] sport is null; …',
    );
    await expect(parseElements(bad(1))).rejects.toThrow('1 of 1 leagues cannot be stored');
  });

  it('counts identical rejections as duplicates, but each of them towards the half', async () => {
    const again = makeLeague('b0', { sport: null });
    const list = await parseElements([
      ...good(4),
      again,
      null,
      Object.fromEntries(Object.entries(again).reverse()),
      null,
    ]);
    expect(list).toMatchObject({ received: 8, duplicates: 2 });
    expect(list.rejections.map(({ position }) => position)).toEqual([4, 5]);
    await expect(parseElements([...good(1), null, null])).rejects.toThrow('2 of 3 leagues cannot be stored');
  });
});
