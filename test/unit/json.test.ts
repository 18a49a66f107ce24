import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  hasTooManyValues,
  isDeeperThan,
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_DEPTH,
  parseJson,
  rawNumber,
  typeName,
} from '../../src/league/json.ts';
import { RUNS, reverseKeys } from '../support/league-lists.ts';

describe('parsed JSON', () => {
  it.each([
    ['1700000000000123.0', 1_700_000_000_000_123],
    ['3.000', 3],
    ['1e-310', 1e-310],
    ['9007199254740991.0', Number.MAX_SAFE_INTEGER],
  ])('has %s, which a double represents exactly, as a plain number', (digits, value) => {
    expect(parseJson(`{"a":${digits}}`)).toEqual({ a: value });
  });

  it.each([
    ['9007199254740993'],
    ['-9007199254740993'],
    ['1e400'],
    ['0.1234567890123456789'],
    ['1e-400'],
    ['1.23456789012345e-320'],
  ])('keeps every digit of %s', (digits) => {
    const text = `{"a":[${digits}]}`;
    const [number] = Object.values(parseJson(text) ?? {}).flat();
    expect(rawNumber(number)).toBe(digits);
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  it.each([['0'], ['3'], ['1.5'], ['-0.25'], ['9007199254740991'], ['1e+22'], ['1.7976931348623157e+308']])(
    'holds %s as a plain number, which loses nothing',
    (digits) => {
      expect(parseJson(digits)).toBe(Number(digits));
    },
  );

  it('is the same as from JSON.parse if no number is too long', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (sent) => {
        const text = JSON.stringify(sent);
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
      RUNS,
    );
  });

  it('keeps every digit beside a text of millions of escapes', () => {
    const text = '\\n'.repeat(6_000_000);
    const value = parseJson(`{"text":"${text}","id":12345678901234567890}`) as JsonObject;
    expect([String(value.text).length, rawNumber(value.id)]).toEqual([6_000_000, '12345678901234567890']);
  });

  it('keeps every digit if a long number is in JSON that is nested too deeply to be stored', () => {
    const deep = `${'["}\\"",'.repeat(5_000)}1${']'.repeat(5_000)}`;
    const value = parseJson(`{"id":9007199254740993,"deep":${deep},"after":9007199254740995}`) as JsonObject;
    expect([value.id, value.after].map(rawNumber)).toEqual(['9007199254740993', '9007199254740995']);
    expect(isDeeperThan(value, MAX_DEPTH)).toBe(true);
    expect(isDeeperThan(value, 2 * MAX_DEPTH)).toBe(false);
  });

  it.each([
    [String.raw`{"h":[],"a\\n":0}`, String.raw`{"h":1,"a\nb":{}}`],
    [String.raw`{"i":[],"\\":0}`, String.raw`{"i":1,"\"":9007199254740993}`],
    [String.raw`{"j":[],"\\":0}`, String.raw`{"j":1,"\n":[{"":{}}],"__proto__":"{:}\""}`],
  ])('keeps keys that V8 mixes up with those of an earlier object: %s, then %s', (earlier, text) => {
    JSON.parse(earlier);
    expect(JSON.stringify(parseJson(text.replace(':{', ' \t\r\n:{')))).toBe(text);
  });

  it.each([[''], ['{'], ['<html>'], ['NaN'], ['01'], ['{"\\n":1,}'], ['{"\\n",1}']])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('canonical JSON', () => {
  it('is the same text for any order of keys, at every depth', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (sent) => {
        const value = sent as JsonValue;
        expect(canonicalJson(reverseKeys(value))).toBe(canonicalJson(value));
      }),
      RUNS,
    );
  });

  it('means the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value as JsonValue))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      RUNS,
    );
  });

  it.each([
    ['{"b":1,"a":{"d":2,"c":3}}', '{"a":{"c":3,"d":2},"b":1}'],
    ['{"b":9007199254740993,"a":1e400}', '{"a":1e400,"b":9007199254740993}'],
    ['{"__proto__":1,"a":2}', '{"__proto__":1,"a":2}'],
    ['[2,1]', '[2,1]'],
    ['null', 'null'],
  ])('of %s is %s', (text, canonical) => {
    expect(canonicalJson(parseJson(text))).toBe(canonical);
  });
});

describe('the depth of JSON', () => {
  it.each([
    ['1', 0, false],
    ['[]', 1, false],
    ['[[1]]', 1, true],
    ['{"a":[{"b":1}]}', 2, true],
    ['[1,[2,[9007199254740993]]]', 3, false],
  ])('of %s goes beyond %d: %s', (text, limit, deeper) => {
    expect(isDeeperThan(parseJson(text), limit)).toBe(deeper);
  });

  it('is limited for a value nested far deeper than the stack allows', () => {
    const levels = 100_000;
    let value: JsonValue = 1;
    for (let level = 0; level < levels; level += 1) value = [value];
    expect(isDeeperThan(value, 500)).toBe(true);
  });
});

it.each<[string, string, boolean]>([
  ['empty objects', `[${'{},'.repeat(3_100_000)}{}]`, true],
  ['short numbers', `{"list":[[${'1,'.repeat(3_100_000)}1]]}`, true],
  ['a few empty objects', `[${'{},'.repeat(100_000)}{}]`, false],
  ['texts of some length', `["${'league after league","'.repeat(200_000)}"]`, false],
])('JSON that would take much memory is detected by its number of values: %s', (_what, text, expected) => {
  expect(hasTooManyValues(Buffer.from(text))).toBe(expected);
});

describe('the type of a value', () => {
  it.each<[string, string, boolean]>([
    ['null', 'null', false],
    ['[]', 'list', false],
    ['{}', 'object', true],
    ['1', 'number', false],
    ['1e400', 'number', false],
    ['"a"', 'string', false],
    ['true', 'boolean', false],
  ])('of %s is called %s', (text, name, object) => {
    expect(typeName(parseJson(text))).toBe(name);
    expect(isObject(parseJson(text))).toBe(object);
  });

  it('that is missing is called absent', () => {
    expect(typeName(undefined)).toBe('absent');
  });
});
