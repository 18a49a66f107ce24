import { describe, expect, it } from 'vitest';
import { splitCommands } from '../documents/command.ts';
import { readMark } from '../documents/mark.ts';
import { readDocument } from '../documents/markdown.ts';
import { differences, hasShape, missingFrom, tableDifferences } from '../documents/normalize.ts';
import { lookUp } from '../documents/references.ts';

// What would make the ring accept a wrong document; it notices itself if it refuses a right one.

it.each(['run:', 'run: exits one', 'run: exits 1; slowly', 'not run:', 'among the lines of terminal'])(
  'the mark "%s" means nothing',
  (words) => expect(readMark(words)).toBeUndefined(),
);

describe('a document', () => {
  const read = (...lines: readonly string[]) => readDocument('page.md', lines.join('\n'));

  it('has an output that stands alone as a step, and none for one after SQL', () => {
    const lines = ['```sh', 'a', '```', '', '```', 'shown', '```', '', '```sql', 'SELECT 1', '```', '```', '1', '```'];
    expect(read(...lines).steps.map(({ kind }) => kind)).toEqual(['commands', 'output']);
  });

  it.each([
    ['a comment that means nothing', ['<!-- run: slowly -->', '```sh', 'a', '```'], 1],
    ['a comment before no block', ['<!-- run: exits 1 -->', '', '```sh', 'a', '```'], 1],
    ['an unknown label', ['', '```bash', 'a', '```'], 2],
  ])('is at fault for %s', (_, lines, line) => expect(read(...lines).faults).toMatchObject([{ line }]));

  it('names the commands in its sentences, and has those of a block one by one', () => {
    const { named } = read('ask `npx league-sync query "SELECT', '1"` or `A=1 npm run x`');
    expect(named.map(({ text }) => text)).toEqual(['npx league-sync query "SELECT 1"', 'A=1 npm run x']);
    expect(splitCommands(["a 'b", "c'", 'd \\', '  e'], 1).map(({ text }) => text)).toEqual(["a 'b\nc'", 'd \\\n  e']);
  });
});

const FOLDER = '/tmp/clone';

describe('what is printed', () => {
  it.each([
    ['leagues: failed (1 s)', 'leagues: failed (20 ms)', true],
    ['status 503', 'status 429', false],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8081', false],
    ['into /elsewhere/a.db', 'into /srv/league-sync/a.db', false],
    ['one, two, three', 'one, … three', true],
  ])('"%s" fits "%s": %s', (printed, shown, fits) => expect(hasShape(printed, shown, FOLDER)).toBe(fits));

  it('has every line that is shown, in that order', () => {
    expect(missingFrom(['b', 'a'], ['a', 'b'], FOLDER)).toEqual(['b']);
    expect(missingFrom(['a'], ['a', 'a'], FOLDER)).toEqual(['a']);
    expect(differences(['a'], ['a', 'b'], FOLDER)).toEqual(['shown:   b', 'printed: (nothing)']);
    expect(differences(['a', 'b'], ['a'], FOLDER)).toEqual(['not shown: b']);
  });

  it.each([
    [['id  name', '1   a'], ['id   name', '77  bbb'], true],
    [['id  name', '1   a'], ['id  title', '1   a'], false],
    [['id  name', '1   a'], ['id  name'], false],
    [['id    1', 'nome  a'], ['id  name', '1   a'], false],
  ])('as a table, %j against %j: %s', (printed, shown, same) =>
    expect(tableDifferences(printed, shown).length === 0).toBe(same),
  );
});

describe('a command that is named', () => {
  const place = { clone: '.', database: 'test/fixtures/schema-1.db' };

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
});
