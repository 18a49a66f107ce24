import { describe, expect, it } from 'vitest';
import { splitCommands } from '../documents/command.ts';
import { PLAIN } from '../documents/mark.ts';
import { readDocument } from '../documents/markdown.ts';

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
