import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findList, isMostlyNothing } from '../../src/json-list.ts';
import { atOnce } from '../../src/stretches.ts';
import { RUNS } from '../support/unit-league.ts';

/** The elements of the list, each read by itself, and the object without them. Throws where any of them is no JSON. */
function readApart(json: string): { readonly elements: readonly unknown[]; readonly rest: unknown } | undefined {
  const bytes = Buffer.from(json);
  const place = atOnce(findList(bytes, 'list'));
  if (place === undefined) return undefined;
  const { from, to, elements } = place;
  const texts = Array.from({ length: elements.length / 2 }, (_, nth) =>
    bytes.toString('utf8', elements[nth * 2], elements[nth * 2 + 1]),
  );
  const rest = bytes.toString('utf8', 0, from) + bytes.toString('utf8', to);
  return { elements: texts.map((text) => JSON.parse(text)), rest: JSON.parse(rest) };
}

const GAPS = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\\"', ']', '}', ',', '[{', 'list', '\\\\'),
);
/** Names that V8 13.6 reads for what they are: it may take one with an escape in it for another one. */
const names = texts.filter((name) => JSON.stringify(name).length === name.length + 2);
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    texts,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(names, tie('value'), { maxKeys: 3 }),
})).value;

/** The same value with white space wherever there may be some. */
function write(value: unknown, gap: string): string {
  if (Array.isArray(value)) return `[${gap}${value.map((one) => write(one, gap)).join(`${gap},${gap}`)}${gap}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}${gap}:${gap}${write(one, gap)}`);
  return `{${gap}${members.join(`${gap},${gap}`)}${gap}}`;
}

describe('a list inside an object', () => {
  it('is found, and each element of it, whatever is in them and around them', () => {
    const objects = fc.tuple(fc.dictionary(names, values), fc.array(values), fc.dictionary(names, values), GAPS);
    fc.assert(
      fc.property(objects, ([before, list, after, gap]) => {
        const { list: _, ...others } = after;
        const object = { ...before, list, ...others };
        const apart = readApart(gap + write(object, gap) + gap);
        const read = JSON.parse(JSON.stringify(object));
        expect(apart).toEqual({ elements: read.list, rest: { ...read, list: [] } });
      }),
      RUNS,
    );
  });

  it.each<[string, string]>([
    ['{"list":[1],"list":[2,3]}', 'that counts is the last'],
    [String.raw`{"li\u0073t":[2,3]}`, 'may have a name that is escaped'],
    ['{"other":[{"list":[9]}],"list":[2,3]}', 'is not one further in'],
    ['{"a":"\\"list\\":[9]","list":[2,3]}', 'is not one in a text'],
  ])('in %s %s', (json) => {
    expect(readApart(json)?.elements).toEqual([2, 3]);
  });

  it.each([
    '',
    '[]',
    '[{"list":[1]}]',
    '{}',
    '{"list":{}}',
    '{"list":"[]"}',
    '{"list":[1],"list":null}',
    '{"other":[]}',
    '{"list":[1',
    '{"list":[{"a":[1,2}',
    '{"list":["a',
    '{"list":["a\\',
    '{"list" [1]}',
    '{list:[1]}',
    '{"list":[1}',
    '{"\\x":[1]',
    '{"\\q":0,"list":[1]}',
  ])('is not found in %s', (json) => {
    expect(atOnce(findList(Buffer.from(json), 'list'))).toBeUndefined();
  });

  it('of which every part is JSON is JSON as a whole, however it was spoilt', () => {
    const spoils = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\ 1a')), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(values, { maxLength: 3 }), spoils, ([...list], changes) => {
        let json = JSON.stringify({ a: 1, list, z: [] });
        for (const [place, by] of changes) {
          const at = place % json.length;
          json = json.slice(0, at) + by + json.slice(at + (place % 3));
        }
        const apart = attempt(() => readApart(json));
        if (apart === undefined) return;
        expect({ ...Object(apart.rest), list: apart.elements }).toEqual(JSON.parse(json.toWellFormed()));
      }),
      { numRuns: 5_000 },
    );
  });

  it('is looked for in no time among millions of names, and not at all behind one that is no JSON', () => {
    const names = (name: string): Buffer =>
      Buffer.from(`{${Array.from({ length: 1_000_000 }, () => name).join('')}"list":[1]}`);
    expect(atOnce(findList(names('"a":0,'), 'list'))?.elements).toHaveLength(2);
    expect(atOnce(findList(names('"\\q":0,'), 'list'))).toBeUndefined();
  });

  it('is not found where it is made of millions of next to nothing', () => {
    const json = Buffer.from(`{"list":[${Array.from({ length: 3_100_000 }, () => '{}').join()}]}`);
    expect(atOnce(findList(json, 'list'))).toBeUndefined();
    expect(isMostlyNothing(json)).toBe(true);
  });

  it('is not found where one element is made of millions of next to nothing', () => {
    const json = Buffer.from(`{"list":[[${'{},'.repeat(3_100_000)}{}]]}`);
    expect(atOnce(findList(json, 'list'))).toBeUndefined();
  });

  it('is given up at the first element too many, before their places take more memory than the list', () => {
    let pauses = 0;
    for (const _ of findList(Buffer.from(`{"list":[${'1,'.repeat(6_200_000)}1]}`), 'list')) pauses += 1;
    expect(pauses).toBeLessThan(3_000);
  });
});

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
