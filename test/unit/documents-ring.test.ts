import { describe, expect, it } from 'vitest';
import { splitCommands } from '../documents/command.ts';
import { PLAIN, readComment, readMark } from '../documents/mark.ts';
import { readDocument } from '../documents/markdown.ts';
import { differences, hasShape, linesOf, missingFrom, shapeOf, tableDifferences } from '../documents/normalize.ts';
import { lookUp } from '../documents/references.ts';

describe('a comment', () => {
  it.each([
    ['<!-- run: exits 1 -->', 'run: exits 1'],
    ['  <!--not run: no such thing-->', 'not run: no such thing'],
    ['<!-- a remark of an author -->', undefined],
  ])('%s is meant for us: %s', (line, words) => expect(readComment(line)).toBe(words));

  it('says several things at once', () => {
    const mark = readMark(
      'run: in terminal 3; after a b; after c; exits 1; answers y; 8358 is the process in terminal 2',
    );
    const process = { number: '8358', terminal: '2' };
    expect(mark).toEqual({ ...PLAIN, terminal: '3', after: ['a b', 'c'], exits: 1, answers: ['y'], process });
  });

  it.each(['run:', 'run: exits one', 'run: exits 1; slowly', 'not run:', 'among the lines of terminal'])(
    '"%s" means nothing',
    (words) => expect(readMark(words)).toBeUndefined(),
  );
});

const read = (...lines: readonly string[]) => readDocument('page.md', lines.join('\n'));

describe('a document', () => {
  it('has the commands of its blocks, with the output right behind one', () => {
    const { steps, faults } = read('# Page', '', '```sh', 'a', 'b', '```', '```', 'shown', '```');
    expect(faults).toEqual([]);
    const commands = [
      { line: 4, text: 'a' },
      { line: 5, text: 'b' },
    ];
    const output = { line: 7, lines: ['shown'], mark: PLAIN };
    expect(steps).toEqual([{ kind: 'commands', line: 3, mark: PLAIN, commands, output }]);
  });

  it('has the mark of the comment before a block, and cuts what the block is indented by', () => {
    const { steps } = read('- item', '', '  <!-- run: exits 1 -->', '  ```sh', '  a', '  ```');
    expect(steps).toMatchObject([{ line: 4, mark: { exits: 1 }, commands: [{ line: 5, text: 'a' }] }]);
  });

  it('has an output that stands alone as a step, and none for one after SQL', () => {
    const lines = ['```sh', 'a', '```', '', '```', 'shown', '```', '', '```sql', 'SELECT 1', '```', '```', '1', '```'];
    expect(read(...lines).steps.map(({ kind }) => kind)).toEqual(['commands', 'output']);
  });

  it.each([
    ['a comment that means nothing', ['<!-- run: slowly -->', '```sh', 'a', '```'], 1],
    ['a comment before no block', ['<!-- run: exits 1 -->', '', '```sh', 'a', '```'], 1],
    ['an unknown label', ['', '```bash', 'a', '```'], 2],
  ])('is at fault for %s', (_, lines, line) => expect(read(...lines).faults).toMatchObject([{ line }]));

  it('names the commands in its sentences', () => {
    const { named } = read(
      'ask `npx league-sync query "SELECT',
      '1"`, `A=1 npm run x` or `systemctl stop league-sync`',
    );
    expect(named).toEqual([
      { line: 1, text: 'npx league-sync query "SELECT 1"' },
      { line: 2, text: 'A=1 npm run x' },
    ]);
  });
});

describe('the commands of a block', () => {
  it.each([
    ['without remarks and empty lines', ['# first', '', 'a'], ['a']],
    ['of which one follows an installation', ['npm ci && npm run demo'], ['npm ci', 'npm run demo']],
    ['over lines that end in a backslash', ['a \\', '  b', 'c'], ['a \\\n  b', 'c']],
    ['over lines in quotes', ["a 'b", "c'", 'd'], ["a 'b\nc'", 'd']],
    ['with a function', ['f() {', '  a', '}', 'f'], ['f() {\n  a\n}', 'f']],
  ])('are told apart: %s', (_, lines, commands) => {
    expect(splitCommands(lines, 1).map(({ text }) => text)).toEqual(commands);
  });
});

const FOLDER = '/tmp/clone';

describe('the shape of a line', () => {
  it.each([
    ['3 s ago (19:52:10 UTC)', '<duration> ago (<time>)'],
    ['e22a47a4-0f8f-500f-8185-bb62089affa2', '<id>'],
    ['2 failed polls', '<number> failed polls'],
    ['19:52:10Z  2 changed: NWSL, UFL', '<number> changed: <leagues>'],
  ])('of "%s" is "%s"', (line, shape) => expect(shapeOf(line)).toBe(shape));

  it.each(['status 503', '127.0.0.1:8080', 'http://127.0.0.1:18080/', 'schema-1.db', '0.1.0'])(
    'keeps the number in "%s"',
    (line) => expect(shapeOf(line)).toBe(line),
  );

  it.each([
    ['leagues: failed (1 s)', 'leagues: failed (20 ms)', true],
    ['status 503', 'status 429', false],
    [`into ${FOLDER}/a.db`, 'into /srv/league-sync/a.db', true],
    ['into /elsewhere/a.db', 'into /srv/league-sync/a.db', false],
    ['one, two, three', 'one, … three', true],
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
  ])('of %j: %j lacks %j', (printed, shown, missing) => expect(missingFrom(printed, shown, FOLDER)).toEqual(missing));
});

describe('a whole output', () => {
  it.each([
    [['a', '1 b'], ['a', '2 b'], []],
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
    [['id    1', 'nome  a'], ['id  name', '1   a'], false],
  ])('%j against %j: %s', (printed, shown, same) => expect(tableDifferences(printed, shown).length === 0).toBe(same));
});

const place = { clone: '.', database: 'test/fixtures/schema-1.db' };

describe('a command that is named', () => {
  it.each([
    'league-sync',
    'league-sync@second status',
    'npx league-sync backup FILE',
    'A=1 B=2 npx league-sync query "SELECT id FROM runs"',
    "sh -c 'rm -f x && league-sync status'",
    'kubectl exec deployment/league-sync -- league-sync status',
    'npm run build && node scripts/store-schema.ts',
  ])('exists: %s', (command) => expect(lookUp(command, place)).toBe('exists'));

  it.each([
    ['(umask 077 && npx league-sync nonsense)', "unknown command 'nonsense'"],
    ['league-sync@second status --nope', "unknown option '--nope'"],
    ['npx league-sync simulate --fault nope', 'no fault nope'],
    ['npx league-sync query "SELECT nope FROM runs"', 'no such column'],
    ['kubectl exec it -- league-sync statuss', "unknown command 'statuss'"],
    ['node src/nothing.ts', 'no file src/nothing.ts'],
    ['npm run nothing', 'no script nothing'],
    ['npx nothing-of-ours', 'would have to download'],
    ['npx vitest run test/unit/nothing.test.ts', 'no file test/unit/nothing.test.ts'],
  ])('is at fault: %s', (command, fault) => {
    expect(lookUp(command, place)).toEqual({ fault: expect.stringContaining(fault) });
  });

  it.each(['docker frobnicate --nope', 'systemctl reloadd league-sync', 'A=1', ''])('is none of ours: %s', (command) =>
    expect(lookUp(command, place)).toBe('foreign'),
  );
});
