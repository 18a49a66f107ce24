import { describe, expect, it } from 'vitest';
import { splitCommands } from '../documents/command.ts';
import { PLAIN, readComment, readMark } from '../documents/mark.ts';
import { readDocument } from '../documents/markdown.ts';
import { differences, hasShape, linesOf, missingFrom, shapeOf, tableDifferences } from '../documents/normalize.ts';
import { lookUp } from '../documents/references.ts';
import { fillIn } from '../documents/settings.ts';
import { splitLine } from '../documents/shell-words.ts';

describe('a comment', () => {
  it.each([
    ['<!-- run: exits 1 -->', 'run: exits 1'],
    ['  <!--not run: no such thing-->', 'not run: no such thing'],
    ['<!-- among the lines of terminal 2 -->', 'among the lines of terminal 2'],
    ['<!-- a remark of an author -->', undefined],
    ['<!-- running -->', undefined],
    ['see `<!-- run: exits 1 -->`', undefined],
  ])('%s is meant for us: %s', (line, words) => expect(readComment(line)).toBe(words));
});

describe('the words of a comment', () => {
  it.each([
    ['not run: by test/deploy', { reason: 'by test/deploy' }],
    ['among the lines of terminal 2', { amongLinesOf: '2' }],
    ['run: in terminal 3; exits 1', { terminal: '3', exits: 1 }],
    ['run: beside npx league-sync simulate', { beside: 'npx league-sync simulate' }],
    ['run: after a b; after c; answers y; answers n', { after: ['a b', 'c'], answers: ['y', 'n'] }],
    ['run: 8358 is the process in terminal 2', { process: { number: '8358', terminal: '2' } }],
  ])('"%s"', (words, mark) => expect(readMark(words)).toEqual({ ...PLAIN, ...mark }));

  it.each([
    'run:',
    'run: ',
    'not run:',
    'run: exits one',
    'run: in terminal two',
    'run: in terminal 3, exits 1',
    'run: exits 1; ',
    'run: slowly',
    'run: exits 1; slowly',
    'among the lines of terminal',
  ])('"%s" mean nothing', (words) => expect(readMark(words)).toBeUndefined());
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

  it('has two commands if one follows an installation in its line', () => {
    const lines = ['npm ci && npm run demo', 'cd x && npm start', 'npm run a && npm run b'];
    expect(splitCommands(lines, 4)).toEqual([
      { line: 4, text: 'npm ci' },
      { line: 4, text: 'npm run demo' },
      { line: 5, text: 'cd x && npm start' },
      { line: 6, text: 'npm run a && npm run b' },
    ]);
  });

  it('has the mark of the comment before a block, and cuts what the block is indented by', () => {
    const { steps } = read('- item', '', '  <!-- run: exits 1 -->', '  ```sh', '  a', '  ```');
    expect(steps).toMatchObject([{ line: 4, mark: { exits: 1 }, commands: [{ line: 5, text: 'a' }] }]);
  });

  it.each([
    ['of a block elsewhere', ['```sh', 'a', '```', '', '```', 'shown', '```']],
    [
      'with a comment of its own',
      ['```sh', 'a', '```', '<!-- among the lines of terminal 2 -->', '```', 'shown', '```'],
    ],
  ])('has an output %s as a step', (_, lines) => {
    expect(read(...lines).steps.map(({ kind }) => kind)).toEqual(['commands', 'output']);
  });

  it.each([
    ['after SQL', ['```sql', 'SELECT 1', '```', '```', '1', '```']],
    ['marked as text', ['```text', 'a', '```']],
    ['of another language', ['```yaml', 'a: 1', '```']],
  ])('has no step for a block %s', (_, lines) => {
    expect(read(...lines)).toMatchObject({ steps: [], faults: [] });
  });

  it.each([
    ['a comment that means nothing', ['<!-- run: slowly -->', '```sh', 'a', '```'], 1],
    ['a comment before no block', ['<!-- run: exits 1 -->', '', '```sh', 'a', '```'], 1],
    ['an unknown label', ['', '```bash', 'a', '```'], 2],
  ])('is at fault for %s', (_, lines, line) => expect(read(...lines).faults).toMatchObject([{ line }]));

  it.each([
    ['ask `npx league-sync status`.', 'npx league-sync status'],
    ['ask `league-sync query "SELECT\n1"` there', 'league-sync query "SELECT 1"'],
    ['`A=1 B=2 npm run x`', 'A=1 B=2 npm run x'],
    ['`node_modules/.bin/node dist/x.cjs`', 'node_modules/.bin/node dist/x.cjs'],
  ])('names a command in "%s"', (text, command) => {
    expect(read(text).named).toEqual([{ line: 1, text: command }]);
  });

  it.each(['`systemctl stop league-sync`', '`league-sync`', '`npm`', 'npm ci', '```sh\nnpm ci\n```'])(
    'names no command in "%s"',
    (text) => expect(read(text).named).toEqual([]),
  );
});

describe('the commands of a block', () => {
  it.each([
    ['one a line', ['a', 'b'], ['a', 'b']],
    ['without remarks and empty lines', ['# first', '', 'a'], ['a']],
    ['over lines that end in a backslash', ['a \\', '  b', 'c'], ['a \\\n  b', 'c']],
    ['over lines in quotes', ["a 'b", "c'", 'd'], ["a 'b\nc'", 'd']],
    ['with a here-document', ['a <<END', 'b', 'END', 'c'], ['a <<END\nb\nEND', 'c']],
    ['with a function', ['f() {', '  a', '}', 'f'], ['f() {\n  a\n}', 'f']],
  ])('are told apart: %s', (_, lines, commands) => {
    expect(splitCommands(lines, 1).map(({ text }) => text)).toEqual(commands);
  });
});

const FOLDER = '/tmp/clone';

describe('the shape of a line', () => {
  it.each([
    ['3 s ago (19:52:10 UTC)', '<duration> ago (<time>)'],
    ['in 60 min (2026-11-23 00:12:10 UTC)', 'in <duration> (<time>)'],
    ['2026-11-22 19:52:10Z INFO  stopped', 'INFO  stopped'],
    ['e22a47a4-0f8f-500f-8185-bb62089affa2', '<id>'],
    ['(1.4 s)', '(<duration>)'],
    ['270 KB of 80 GB', '<size> of <size>'],
    ['2 failed polls', '<number> failed polls'],
    ['a     b   ', 'a  b'],
    ['19:52:10Z  2 changed: NWSL, UFL', '<number> changed: <leagues>'],
    ['19:52:10Z  124 added: NFL', '<number> added: NFL'],
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
    ['one, two, three', 'one, …', true],
    ['a+b', 'a+b', true],
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

const place = { clone: '.', database: 'test/fixtures/schema-1.db' };

describe('a command that is named', () => {
  it.each([
    'league-sync --version',
    'league-sync@second status',
    'systemd-run --wait league-sync@second check',
    'npx league-sync status --probe',
    'npx league-sync backup FILE',
    'npx league-sync query "SELECT id FROM runs"',
    'A=1 B=2 npx league-sync sync --dry-run',
    'docker run --detach --name league-sync --env-file .env \\\n  --volume leagues:/data example.com/league-sync:0.1.0',
    'docker compose exec -T worker league-sync backup /data/backup.db',
    "docker run --rm --entrypoint sh league-sync -c 'rm -f x && league-sync status'",
    'kubectl exec deployment/league-sync -- league-sync status',
    'systemd-run --wait --uid=league-sync league-sync check',
    'npm version --no-git-tag-version <version>',
    'npm run build && node scripts/store-schema.ts',
    'A=1 npx vitest run test/unit/documents-ring.test.ts',
  ])('exists: %s', (command) => expect(lookUp(command, place)).toBe('exists'));

  it.each([
    ['npx league-sync nonsense', "unknown command 'nonsense'"],
    ['league-sync@second nonsense', "unknown command 'nonsense'"],
    ['npx league-sync statuss --nope', "unknown command 'statuss'"],
    ['npx league-sync status --nope', "unknown option '--nope'"],
    ['npx league-sync status --json --probe', 'cannot be used with'],
    ['npx league-sync simulate --fault nope', 'no fault nope'],
    ['npx league-sync query "SELECT nope FROM runs"', 'no such column'],
    ['(umask 077 && npx league-sync nonsense)', "unknown command 'nonsense'"],
    ['cat file | npx league-sync nonsense', "unknown command 'nonsense'"],
    ['docker exec league-sync league-sync statuss --nope', "unknown command 'statuss'"],
    ['docker exec league-sync', 'no command to run'],
    ['docker run --rm --name league-sync league-sync nonsense', "unknown command 'nonsense'"],
    ['systemd-run --wait --uid=league-sync league-sync nonsense', "unknown command 'nonsense'"],
    ['node src/cli.ts nonsense', "unknown command 'nonsense'"],
    ['node src/nothing.ts', 'no file src/nothing.ts'],
    ['npm run nothing', 'no script nothing'],
    ['npx nothing-of-ours', 'would have to download'],
    ['npx vitest run test/unit/nothing.test.ts', 'no file test/unit/nothing.test.ts'],
  ])('is at fault: %s', (command, fault) => {
    expect(lookUp(command, place)).toEqual({ fault: expect.stringContaining(fault) });
  });

  it.each([
    'docker frobnicate --nope',
    'docker exec league-sync rm -f /data/backup.db',
    'docker run --rm datasette league-sync nonsense',
    'systemctl reloadd league-sync',
    'curl -o league-sync http://127.0.0.1',
    'A=1',
    '',
  ])('is none of ours: %s', (command) => expect(lookUp(command, place)).toBe('foreign'));
});

describe('a command line', () => {
  it.each([
    ['a b\tc', [['a', 'b', 'c']]],
    ['a "b c" \'d "e"\' f\\ g', [['a', 'b c', 'd "e"', 'f g']]],
    ['--a="b c"', [['--a=b c']]],
    ["printf '' b", [['printf', '', 'b']]],
    ['a && b || c; d | e', [['a'], ['b'], ['c'], ['d'], ['e']]],
    ['(a && b)', [['a'], ['b']]],
    ['a \\\n  b\nc', [['a', 'b'], ['c']]],
    ['a >b c 2>&1 < d', [['a', 'c']]],
    ['a <version>', [['a', '<version>']]],
    ['', []],
  ])('%j is %j', (line, words) => expect(splitLine(line)).toEqual(words));
});

describe('the settings of the simulated service', () => {
  const example = 'X=1\nLEAGUE_SYNC_BASE_URL=\n\nLEAGUE_SYNC_USERNAME=\n\nLEAGUE_SYNC_PASSWORD=\n';
  const readme = 'It listens on `http://x`\n(username `player`, password `secret-password`).';

  it('are filled in as the README says', () => {
    const filled =
      'X=1\nLEAGUE_SYNC_BASE_URL=http://x\n\nLEAGUE_SYNC_USERNAME=player\n\nLEAGUE_SYNC_PASSWORD=secret-password\n';
    expect(fillIn(example, readme)).toBe(filled);
  });

  it.each([
    ['the README has another sentence', example, 'it is at `http://x`', 'the README does not say'],
    ['the example lacks one', 'LEAGUE_SYNC_BASE_URL=\n', readme, '.env.example has no line'],
  ])('are not passed over if %s', (_, text, page, message) => expect(() => fillIn(text, page)).toThrow(message));
});
