import { describe, expect, it } from 'vitest';
import { isObject, parseJson } from '../../src/league/json.ts';
import type { Field, FieldType, FieldValue } from '../../src/league/response-schemas.ts';
import { readFields } from '../../src/service/detect-drift.ts';

/** Reads one field of the given kind out of an object sent as this text. */
function read(type: FieldType, presence: Field['presence'], text: string): ReturnType<typeof readFields<'f'>> {
  const object = parseJson(text);
  if (!isObject(object)) throw new Error(`${text} is no object`);
  return readFields([{ name: 'f', type, presence }], object, 'leagues[].');
}

it.each<[FieldType, string, FieldValue]>([
  ['text', '"NFL"', 'NFL'],
  ['text', '""', ''],
  ['text', '"9007199254740993"', '9007199254740993'],
  ['number', '3', 3],
  ['number', '3.0', 3],
  ['number', '1.5', 1.5],
  ['number', '-7', -7],
  ['number', '9007199254740993', 9007199254740993n],
  ['number', '-9223372036854775808', -9223372036854775808n],
  ['number', '9223372036854775808', 2 ** 63],
  ['flag', 'true', true],
  ['flag', 'false', false],
  ['json', '[]', '[]'],
  ['json', '[{"b":1,"a":9007199254740993}]', '[{"b":1,"a":9007199254740993}]'],
  ['scalar', '"2022-10-06"', '2022-10-06'],
  ['scalar', '1665047392', 1665047392],
  ['scalar', '1.5', 1.5],
  ['scalar', '9007199254740993', 9007199254740993n],
  ['scalar', '9223372036854775807', 9223372036854775807n],
  ['scalar', '9223372036854775808', '9223372036854775808'],
  ['scalar', '-9223372036854775809', '-9223372036854775809'],
  ['scalar', '-1e16', -1e16],
  ['scalar', '"12"', '12'],
  ['scalar', 'true', 'true'],
  ['scalar', '{"$date":1}', '{"$date":1}'],
  ['scalar', '[1,2]', '[1,2]'],
])('a value of the declared type as a %s of %s is stored without drift', (type, sent, value) => {
  const found = read(type, 'required', `{"f":${sent}}`);
  expect(found).toEqual({ values: { f: value, extra: '{}' }, problems: [], drift: [] });
});

it.each<[FieldType, string, FieldValue, string]>([
  ['text', '17', '17', 'number for string'],
  ['text', '9007199254740993', '9007199254740993', 'number for string'],
  ['text', '0.1234567890123456789', '0.1234567890123456789', 'number for string'],
  ['text', '1e400', '1e400', 'number for string'],
  ['number', '"3"', 3, 'string for number'],
  ['number', '"-1.5e3"', -1500, 'string for number'],
  ['number', '"123456789.12345678"', 123456789.12345678, 'string for number'],
  ['number', '"9007199254740993"', 9007199254740993n, 'string for number'],
  ['flag', '"true"', true, 'string for boolean'],
  ['flag', '"false"', false, 'string for boolean'],
  ['json', '{}', '{}', 'object for list'],
  ['json', '"moneyline"', '"moneyline"', 'string for list'],
  ['json', 'false', 'false', 'boolean for list'],
])('a value that can be converted without loss as a %s of %s is stored and is drift', (type, sent, value, detail) => {
  const found = read(type, 'required', `{"f":${sent}}`);
  const drift = [{ field: 'leagues[].f', kind: 'wrong-type', detail }];
  expect(found).toEqual({ values: { f: value, extra: '{}' }, problems: [], drift });
});

describe('a value that cannot be converted', () => {
  const misfits: [FieldType, string, string][] = [
    ['text', 'true', 'boolean for string'],
    ['text', '{"a":1}', 'object for string'],
    ['text', '[1]', 'list for string'],
    ['number', '"third"', 'string for number'],
    ['number', '""', 'string for number'],
    ['number', '" 3"', 'string for number'],
    ['number', '"007"', 'string for number'],
    ['number', '"0x10"', 'string for number'],
    ['number', '"0.12345678901234567"', 'string for number'],
    ['number', '"18446744073709551616"', 'string for number'],
    ['number', '"1e-400"', 'string for number'],
    ['number', '1e400', 'number for number'],
    ['number', 'true', 'boolean for number'],
    ['flag', '1', 'number for boolean'],
    ['flag', '"yes"', 'string for boolean'],
    ['flag', '"TRUE"', 'string for boolean'],
  ];

  it.each(misfits)('as an optional %s of %s goes to extra', (type, sent, detail) => {
    const found = read(type, 'optional', `{"f":${sent}}`);
    const drift = [{ field: 'leagues[].f', kind: 'wrong-type', detail }];
    expect(found).toEqual({ values: { f: null, extra: `{"f":${sent}}` }, problems: [], drift });
  });

  it.each(misfits)('as a required %s of %s is a problem', (type, sent, detail) => {
    const found = read(type, 'required', `{"f":${sent}}`);
    const [is, of] = detail.split(' for ');
    const problem = is === of ? `is a ${is} that is too large` : `should be a ${of}, but is `;
    expect(found.problems).toEqual([{ path: 'f', message: expect.stringContaining(problem) }]);
    expect(found.drift).toEqual([{ field: 'leagues[].f', kind: 'wrong-type', detail }]);
  });

  it('may be a text with a NUL, which is an unexpected value', () => {
    const found = read('text', 'optional', '{"f":"a\\u0000b"}');
    expect(found.values.f).toBeNull();
    expect(found.values.extra).toBe('{"f":"a\\u0000b"}');
    expect(found.drift).toEqual([
      { field: 'leagues[].f', kind: 'unexpected-value', detail: 'string with a character that no text can hold' },
    ]);
    expect(read('text', 'required', '{"f":"a\\u0000b"}').problems).toEqual([
      { path: 'f', message: 'contains a character that the database cannot store (NUL or an unpaired surrogate)' },
    ]);
  });

  it('is not a time with a NUL, which is stored as JSON', () => {
    expect(read('scalar', 'expected', '{"f":"a\\u0000b"}').values.f).toBe('"a\\u0000b"');
  });

  it('may be a text with an unpaired surrogate', () => {
    const found = read('text', 'optional', '{"f":"a\\ud800b"}');
    expect(found.values.f).toBeNull();
    expect(found.values.extra).toBe('{"f":"a\\ud800b"}');
    expect(read('text', 'required', '{"f":"a\\ud800b"}').problems).toHaveLength(1);
  });
});

describe('a value that is null or absent', () => {
  it.each<[Field['presence'], string, boolean, string[]]>([
    ['required', '{}', true, []],
    ['required', '{"f":null}', true, []],
    ['expected', '{}', false, ['missing-field']],
    ['expected', '{"f":null}', false, []],
    ['optional', '{}', false, []],
    ['optional', '{"f":null}', false, []],
  ])('if %s and sent as %s is a problem: %s, drift: %j', (presence, sent, problem, kinds) => {
    const found = read('text', presence, sent);
    expect(found.values.f).toBeNull();
    expect(found.values.extra).toBe('{}');
    expect(found.problems).toHaveLength(problem ? 1 : 0);
    expect(found.drift.map(({ kind }) => kind)).toEqual(kinds);
  });
});

it.each([
  ['{"new":1}', 'leagues[].new', 'number'],
  ['{"new":null}', 'leagues[].new', 'null'],
  ['{"new":[9007199254740993,{"b":1,"a":2}]}', 'leagues[].new', 'list'],
  ['{"__proto__":{"f":"polluted"}}', 'leagues[].__proto__', 'object'],
  ['{"constructor":"x"}', 'leagues[].constructor', 'string'],
  ['{"toString":false}', 'leagues[].toString', 'boolean'],
])('a field that the interface does not name as in %s goes to extra and is drift', (sent, field, detail) => {
  const found = read('text', 'optional', sent);
  expect(found).toEqual({
    values: { f: null, extra: sent },
    problems: [],
    drift: [{ field, kind: 'unknown-field', detail }],
  });
});
