import { describe, expect, it } from 'vitest';
import { ContractError } from '../../src/errors.ts';
import { isObject, type JsonObject, parseJson } from '../../src/league/json.ts';
import { parseProfile } from '../../src/service/parse-profile.ts';

const PLAYER = {
  player_id: 'p1',
  username: 'player',
  email: 'player@example.com',
  type: 'standard',
  verified: true,
  profile_pic: 'https://images.example.com/p1.png',
  first_name: 'Pat',
  last_name: 'Player',
};

const TOO_DEEP = `${'['.repeat(1_100)}${']'.repeat(1_100)}`;

const answer = (player: JsonObject, rest: JsonObject = { player_premium_items: [] }): JsonObject => ({
  message: 'ok',
  player,
  ...rest,
});

describe('a profile', () => {
  it('as the interface shows it is stored completely', () => {
    expect(parseProfile(answer(PLAYER))).toEqual({
      player: { ...PLAYER, premium_items: '[]', extra: '{}' },
      drift: [],
    });
  });

  it('needs only the id of its player', () => {
    const { player, drift } = parseProfile(answer({ player_id: 'p1' }));
    expect(player).toMatchObject({ player_id: 'p1', username: null, verified: null, last_name: null });
    expect(drift).toEqual([]);
  });

  it('keeps the digits of an id that is sent as a number', () => {
    const sent = parseJson('{"player":{"player_id":9007199254740993},"player_premium_items":[]}');
    const { player, drift } = parseProfile(isObject(sent) ? sent : {});
    expect(player.player_id).toBe('9007199254740993');
    expect(drift).toEqual([{ field: 'player.player_id', kind: 'wrong-type', detail: 'number for string' }]);
  });

  it('has unknown fields and unusable values in extra', () => {
    const { player, drift } = parseProfile(answer({ ...PLAYER, verified: 1, country: 'DE' }));
    expect(player.verified).toBeNull();
    expect(JSON.parse(player.extra)).toEqual({ verified: 1, country: 'DE' });
    expect(drift).toEqual([
      { field: 'player.verified', kind: 'wrong-type', detail: 'number for boolean' },
      { field: 'player.country', kind: 'unknown-field', detail: 'string' },
    ]);
  });

  it.each<[string, JsonObject, string | null, string | undefined]>([
    ['a list', { player_premium_items: [{ b: 1, a: 2 }] }, '[{"b":1,"a":2}]', undefined],
    ['missing', {}, null, 'missing-field'],
    ['null', { player_premium_items: null }, null, 'wrong-type'],
    ['an object', { player_premium_items: { gold: true } }, '{"gold":true}', 'wrong-type'],
  ])('whose premium items are %s is stored', (_what, rest, items, kind) => {
    const { player, drift } = parseProfile(answer(PLAYER, rest));
    expect(player.premium_items).toBe(items);
    expect(drift[0]?.kind).toBe(kind);
  });

  it.each<[string, JsonObject]>([
    ['without a player', {}],
    ['with null for a player', { player: null }],
    ['with a list for a player', { player: [PLAYER] }],
    ['whose player has no id', answer({ username: 'player' })],
    ['whose player has an empty id', answer({ ...PLAYER, player_id: '' })],
    ['whose player has an object for an id', answer({ ...PLAYER, player_id: {} })],
    ['that is nested too deeply', answer(PLAYER, { player_premium_items: parseJson(TOO_DEEP) })],
  ])('%s is a failure', (_what, sent) => {
    expect(() => parseProfile(sent)).toThrow(ContractError);
  });

  it('never quotes the response in its error', () => {
    expect(() => parseProfile(answer({ ...PLAYER, player_id: ['hunter22'] }))).not.toThrow('hunter22');
  });
});
