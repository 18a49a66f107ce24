import { describe, expect, it } from 'vitest';
import { lookUp } from '../documents/references.ts';
import { fillIn } from '../documents/settings.ts';
import { splitLine } from '../documents/shell-words.ts';

const place = { clone: '.', database: 'test/fixtures/schema-1.db' };

describe('a command that is named', () => {
  it.each([
    'npx league-sync',
    'league-sync --version',
    'league-sync@second status',
    'systemd-run --wait league-sync@second check',
    'npm uninstall league-sync',
    'npx league-sync simulate --help',
    'npx league-sync status --probe',
    'npx league-sync query',
    'npx league-sync backup FILE',
    'npx league-sync query "SELECT id FROM runs"',
    'npx league-sync changes --since 3 >changes.txt',
    'A=1 B=2 npx league-sync sync --dry-run',
    'docker run --rm league-sync demo --for 15s',
    'docker run --detach --name league-sync --env-file .env \\\n  --volume leagues:/data example.com/league-sync:0.1.0',
    'docker compose exec worker league-sync status',
    'docker compose exec -T worker league-sync backup /data/backup.db',
    "docker run --rm --entrypoint sh league-sync -c 'rm -f x && league-sync status'",
    'kubectl exec deployment/league-sync -- league-sync status',
    'systemd-run --wait --uid=league-sync league-sync check',
    'npm version --no-git-tag-version <version>',
    'npm run build && node scripts/store-schema.ts',
    'A=1 npx vitest run test/unit/documents-references.test.ts',
    'bash .ci/run',
  ])('exists: %s', (command) => expect(lookUp(command, place)).toBe('exists'));

  it.each([
    ['npx league-sync nonsense', 'no command "nonsense"'],
    ["kubectl exec worker -- sh -c 'cat >x && league-sync nonsense'", 'no command "nonsense"'],
    ['league-sync@second nonsense', 'no command "nonsense"'],
    ['npx league-sync statuss --nope', "unknown option '--nope'"],
    ['npx league-sync status --nope', "unknown option '--nope'"],
    ['npx league-sync status -x', "unknown option '-x'"],
    ['npx league-sync status all', 'too many arguments'],
    ['npx league-sync status --json --probe', 'cannot be used with'],
    ['npx league-sync changes --limit', 'argument missing'],
    ['npx league-sync changes --limit many', 'Write a whole number'],
    ['npx league-sync simulate --fault nope', 'no fault nope'],
    ['npx league-sync query "SELECT nope FROM runs"', 'no such column'],
    ['A=1 B=2 npx league-sync nonsense', 'no command "nonsense"'],
    ['(umask 077 && npx league-sync nonsense)', 'no command "nonsense"'],
    ['cat file | npx league-sync nonsense', 'no command "nonsense"'],
    ['docker exec league-sync league-sync statuss --nope', "unknown option '--nope'"],
    ['docker exec --user 0 league-sync league-sync nonsense', 'no command "nonsense"'],
    ['docker exec league-sync', 'no command to run'],
    ['docker run --rm --name league-sync league-sync nonsense', 'no command "nonsense"'],
    ['runuser -u league-sync -- league-sync nonsense', 'no command "nonsense"'],
    ['systemd-run --wait --uid=league-sync league-sync nonsense', 'no command "nonsense"'],
    ['node src/cli.ts nonsense', 'no command "nonsense"'],
    ['node src/nothing.ts', 'no file src/nothing.ts'],
    ['bash test/nothing.sh', 'no file test/nothing.sh'],
    ['npm run nothing', 'no script nothing'],
    ['npm nothing', 'no script nothing'],
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
