import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedMembersJson, contentHash, elementHash, leagueJson } from '../../src/league/feed-json.ts';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../src/league/json.ts';
import { LEAGUE_MEMBERS, type League } from '../../src/league/response-schemas.ts';
import { parseLeagues } from '../../src/service/parse-leagues.ts';
import { elementList, parseElements, RUNS } from '../support/league-lists.ts';
import { makeLeague } from '../support/leagues.ts';

async function leagueOf(fields: Readonly<Record<string, JsonValue>> = {}): Promise<League> {
  const [received] = (await parseElements([makeLeague('l1', fields)])).leagues.values();
  if (received === undefined) throw new Error('The league was rejected.');
  return received.league;
}

/** The league with this JSON, parsed with all its digits, in a field. */
async function leagueWith(name: string, text: string): Promise<League> {
  const fields = parseJson(`{${JSON.stringify(name)}:${text}}`);
  return await leagueOf(isObject(fields) ? fields : {});
}

describe('the hash of a league', () => {
  it.each<[string, string, string]>([
    ['default_markets', '[{"a":1,"b":{"c":2,"d":3}}]', '[{"b":{"d":3,"c":2},"a":1}]'],
    ['default_markets', '{"b":9007199254740993,"a":1}', '{"a":1,"b":9007199254740993}'],
    ['unforeseen', '{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['create_datetime', '{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'],
  ])('is the same for %s of %s and of %s', async (name, one, other) => {
    expect(contentHash(await leagueWith(name, one))).toBe(contentHash(await leagueWith(name, other)));
    expect(changedMembersJson(await leagueWith(name, one), await leagueWith(name, other))).toBe('{}');
  });

  it.each<[string, string, string]>([
    ['default_markets', '[1,2]', '[2,1]'],
    ['default_markets', '[9007199254740993]', '[9007199254740992]'],
    ['default_markets', '[]', 'null'],
    ['priority', '1', '2'],
    ['priority', '9007199254740993', '9007199254740994'],
    ['create_datetime', '1', '"1"'],
    ['create_datetime', 'null', '"null"'],
    ['rankings', 'false', 'null'],
    ['city', '""', 'null'],
    ['unforeseen', '1', '"1"'],
    ['unforeseen', 'null', '0'],
  ])('differs for %s of %s and of %s', async (name, one, other) => {
    expect(contentHash(await leagueWith(name, one))).not.toBe(contentHash(await leagueWith(name, other)));
    expect(changedMembersJson(await leagueWith(name, one), await leagueWith(name, other))).not.toBe('{}');
  });

  it('does not confuse a text that runs over two fields', async () => {
    const one = await leagueOf({ state: 'a"\n"b', city: 'c' });
    const other = await leagueOf({ state: 'a', city: 'b"\n"c' });
    expect(contentHash(one)).not.toBe(contentHash(other));
  });

  it('is the same if and only if no member differs', async () => {
    const one = elementList.filter((list) => list.length > 1);
    await fc.assert(
      fc.asyncProperty(one, async (elements) => {
        const leagues = elements.map((element) => leagueOf({ ...element, league_id: 'l1' }));
        const [a, b] = await Promise.all(leagues);
        if (a === undefined || b === undefined) return;
        expect(contentHash(a) === contentHash(b)).toBe(changedMembersJson(a, b) === '{}');
      }),
      RUNS,
    );
  });
});

/** Parses an element beside a usable one, since a list of rejected elements alone is refused. */
async function readBeside(fields: Readonly<Record<string, unknown>>, stored = new Map<string, string>()) {
  // As JSON, so that fields that are undefined are absent.
  const body = parseJson(JSON.stringify({ leagues: [makeLeague('other'), { ...makeLeague('l1'), ...fields }] }));
  const { leagues, rejections, drift } = await parseLeagues(isObject(body) ? body : {}, 'all', { stored });
  const read = [...leagues.values()].map(({ leagueId, hash, league }) => ({ leagueId, hash, league }));
  return { leagues: read, rejections, drift };
}

describe('the hash of an element', () => {
  it.each<[string, JsonObject]>([
    ['a complete league', makeLeague('l1')],
    ['a list of objects', makeLeague('l1', { default_markets: [{ b: 1, a: 2 }] })],
    ['null in an optional field', makeLeague('l1', { city: null })],
  ])('is that of its league: %s', async (_what, element) => {
    const league = await leagueOf(element);
    expect(elementHash(element)).toBe(contentHash(league));
  });

  it.each<[string, string]>([
    ['an unknown field', '{"unforeseen":1}'],
    ['an object in a text', '{"city":{}}'],
    ['a list in a scalar', '{"create_datetime":[1]}'],
    ['a number with more digits than a double', '{"priority":12345678901234567890}'],
  ])('is unknown with %s', (_what, fields) => {
    const element = parseJson(fields);
    expect(elementHash({ ...makeLeague('l1'), ...(isObject(element) ? element : {}) })).toBeUndefined();
  });

  it('spares the validation of an element whose league is stored', async () => {
    const { leagues } = await parseElements([makeLeague('l1')]);
    const stored = new Map([...leagues].map(([leagueId, { hash }]) => [leagueId, hash]));
    const recognized = (await parseLeagues({ leagues: [makeLeague('l1')] }, 'all', { stored })).leagues.get('l1');
    expect(recognized?.league).toEqual(leagues.get('l1')?.league);
    // A league that was validated is kept; that of a recognized element is read at each access.
    expect(recognized?.league).not.toBe(recognized?.league);
    expect(leagues.get('l1')?.league).toBe(leagues.get('l1')?.league);
  });

  it.each(['default_markets', 'city', 'priority', 'rankings', 'create_datetime'])(
    'spares no validation that would find another league, whatever %s was and is',
    async (name) => {
      const values = ['[]', [], '{}', {}, 1, '1', true, 'true', null, 'null', '"a"', 'a', 'a\0', [1], '[1]'] as const;
      const fields = [undefined, ...values].map((value) => ({ [name]: value }));
      for (const before of fields) {
        const { leagues, drift } = await readBeside(before);
        for (const { league, hash } of leagues) expect(hash).toBe(contentHash(league));
        const hashes = new Map(leagues.map(({ leagueId, hash }) => [leagueId, hash]));
        for (const after of fields) {
          const [quick, whole] = [await readBeside(after, hashes), await readBeside(after)];
          expect({ ...quick, drift: [] }).toEqual({ ...whole, drift: [] });
          // What the stored league departed in has been recorded already.
          expect([...drift, ...quick.drift]).toEqual(expect.arrayContaining([...whole.drift]));
        }
      }
    },
  );
});

describe('a league in the change feed', () => {
  it('is one JSON object with the 19 fields and extra, nothing quoted twice', async () => {
    const league = await leagueOf({
      priority: 1.5,
      default_markets: [{ b: 1, a: 2 }],
      rankings: true,
      default_tournaments: false,
      create_datetime: 1665047392,
      unforeseen: { x: [1] },
    });
    const written: unknown = JSON.parse(leagueJson(league));
    expect(Object.keys(written as object)).toEqual(LEAGUE_MEMBERS.map(({ name }) => name));
    expect(written).toMatchObject({
      priority: 1.5,
      default_markets: [{ b: 1, a: 2 }],
      rankings: true,
      default_tournaments: false,
      city: null,
      create_datetime: 1665047392,
      extra: { unforeseen: { x: [1] } },
    });
    expect(LEAGUE_MEMBERS).toHaveLength(20);
  });

  it('keeps every digit', async () => {
    const text = leagueJson(await leagueWith('priority', '9007199254740993'));
    expect(text).toContain('"priority":9007199254740993,');
    expect(leagueJson(await leagueWith('default_markets', '[1e400]'))).toContain('"default_markets":[1e400],');
  });

  it('that changed has only the old values of the changed members in before', async () => {
    const before = await leagueOf({ priority: 1, rankings: true, default_markets: [1], note: 'old', city: 'Rome' });
    const after = await leagueOf({ priority: 2, rankings: null, default_markets: [2], note: 'new', city: 'Rome' });
    expect(changedMembersJson(before, after)).toBe(
      '{"priority":1,"default_markets":[1],"rankings":true,"extra":{"note":"old"}}',
    );
  });
});
