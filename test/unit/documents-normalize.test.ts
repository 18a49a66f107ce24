import { describe, expect, it } from 'vitest';
import { differences, hasShape, linesOf, missingFrom, shapeOf, tableDifferences } from '../documents/normalize.ts';

const FOLDER = '/tmp/clone';

describe('the shape of a line', () => {
  it.each([
    ['at 2026-11-21T02:08:39.814Z', 'at <instant>'],
    ['3 s ago (19:52:10 UTC)', '<duration> ago (<time>)'],
    ['in 60 min (2026-11-23 00:12:10 UTC)', 'in <duration> (<time>)'],
    ['2026-11-22 19:52:10Z INFO  stopped', 'INFO  stopped'],
    ['e22a47a4-0f8f-500f-8185-bb62089affa2', '<id>'],
    ['(1.4 s)', '(<duration>)'],
    ['270 KB of 80 GB', '<size> of <size>'],
    ['2 failed polls', '<number> failed polls'],
    ['a     b   ', 'a  b'],
    ['into /srv/league-sync/data', 'into <folder>/data'],
    ['19:52:10Z  2 changed: NWSL, UFL', '<number> changed: <leagues>'],
    ['19:52:10Z  124 added: NFL', '<number> added: NFL'],
  ])('of "%s" is "%s"', (line, shape) => expect(shapeOf(line)).toBe(shape));

  it.each(['status 503', '127.0.0.1:8080', 'http://127.0.0.1:18080/', 'schema-1.db', '0.1.0'])(
    'keeps the number in "%s"',
    (line) => expect(shapeOf(line)).toBe(line),
  );

  it.each([
    ['leagues: failed (1 s)', 'leagues: failed (20 ms)', true],
    ['leagues: failed', 'leagues: held', false],
    ['status 503', 'status 429', false],
    [`into ${FOLDER}/a.db`, 'into /srv/league-sync/a.db', true],
    ['into /elsewhere/a.db', 'into /srv/league-sync/a.db', false],
    ['one, two, three', 'one, … three', true],
    ['one, two, three', 'one, …', true],
    ['a and more', 'a', false],
    ['a+b', 'a+b', true],
    ['aab', 'a+b', false],
  ])('of "%s" fits "%s": %s', (printed, shown, fits) => expect(hasShape(printed, shown, FOLDER)).toBe(fits));
});

it('lines of the log are whole, and npm’s remarks and empty lines do not count', () => {
  const first = '2026-11-22 19:52:10Z INFO  one';
  const indent = ' '.repeat(27);
  expect(linesOf(`${first}\n${indent}two\n${indent}three\nfour\n${indent}five`)).toEqual([
    `${first} two three`,
    'four',
    `${indent}five`,
  ]);
  expect(linesOf('npm warn EBADENGINE\n\n a\n  \nb npm warn\n')).toEqual([' a', 'b npm warn']);
});

describe('lines that have to be among others', () => {
  it.each([
    [['x', 'a', 'y', 'b'], ['a', 'b'], []],
    [['b', 'a'], ['a', 'b'], ['b']],
    [['a'], ['a', 'a'], ['a']],
    [['a', 'b'], ['a', '', 'b'], []],
    [[], ['a'], ['a']],
  ])('of %j: %j lacks %j', (printed, shown, missing) => expect(missingFrom(printed, shown, FOLDER)).toEqual(missing));
});

describe('a whole output', () => {
  it.each([
    [['a', '1 b'], ['a', '2 b'], []],
    [['a'], ['b'], ['shown:   b', 'printed: a']],
    [['a'], ['a', 'b'], ['shown:   b', 'printed: (nothing)']],
    [['a', 'b'], ['a'], ['not shown: b']],
  ])('%j against %j', (printed, shown, faults) => expect(differences(printed, shown, FOLDER)).toEqual(faults));
});

describe('a table', () => {
  it.each([
    [['id  name', '1   a'], ['id   name', '77  bbb'], true],
    [['id  name', '1   a'], ['id  title', '1   a'], false],
    [['id  name', '1   a'], ['id  name'], false],
    [['id    1', 'name', 'id    2', 'name  b', '      c'], ['id  name', '1   a', '2   b c'], true],
    [['id    1', 'name  a'], ['id  name', '1   a', '2   b'], false],
    [['id    1', 'nome  a'], ['id  name', '1   a'], false],
  ])('%j against %j: %s', (printed, shown, same) => expect(tableDifferences(printed, shown).length === 0).toBe(same));
});
