import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { setUpFor } from '../support/bench.ts';
import { execute, withDatabase } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { makeLeagues } from '../support/leagues.ts';
import { eventually, type RunningProgram, startProgram } from '../support/program.ts';
import { CONTROL_C, needTerminal, startAtTerminal } from '../support/terminal.ts';
import { setUpBench } from '../support/worker-resources.ts';

/** A database with three leagues, and functions that follow its feed and add to it. */
async function makeFeed() {
  const folder = makeFolder();
  const path = folder.file('leagues.db');
  {
    await using bench = await setUpBench({}, { folder });
    await bench.pollWith(makeLeagues(3));
  }
  const follow = (args: readonly string[], more = {}): RunningProgram =>
    startProgram(['changes', '--follow', ...args], { cwd: folder.path, env: { LEAGUE_SYNC_DATABASE: path }, ...more });
  const add = (count: number, leagueId = 'l1', kind = 'changed'): void =>
    execute(
      path,
      `INSERT INTO league_changes (run_id, at, league_id, kind, before, after)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${count})
        SELECT 1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), '${leagueId}', '${kind}', '{"city":null}',
          '{"league_name":"A League","city":"Rome"}' FROM n`,
    );
  return { path, folder, follow, add };
}

const seqsOf = (program: RunningProgram) => program.log().map(({ seq }) => seq);

const shows = (program: RunningProgram, seqs: readonly number[]): Promise<unknown> =>
  eventually(`changes ${seqs} are shown`, () => program.log().length >= seqs.length).then(() =>
    expect(seqsOf(program)).toEqual(seqs),
  );

const upTo = (last: number, first = 1): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('changes --follow', () => {
  it('shows what it shows without, then each new change soon, and ends with 0 on SIGTERM', async () => {
    const { follow, add } = await makeFeed();
    const program = follow(['--json', '--since', '0']);
    await shows(program, upTo(3));
    add(1);
    await shows(program, upTo(4));
    add(1);
    await shows(program, upTo(5));
    expect(await program.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    [['--limit', '2'], upTo(6, 2)],
    [['--since', '1d'], upTo(6)],
    [
      ['--league', 'l2'],
      [2, 5],
    ],
  ] as const)('with %j goes on after the last change that it selects', async (args, expected) => {
    const { follow, add } = await makeFeed();
    const program = follow(['--json', ...args]);
    const before = expected.filter((seq) => seq <= 3);
    await eventually('what there was is shown', () => before.every((seq) => seqsOf(program).includes(seq)));
    add(1, 'l1');
    add(1, 'l2');
    add(1, 'l3', 'restored');
    await eventually('the last change is shown', () => seqsOf(program).includes(expected.at(-1)));
    await program.stop();
    expect(seqsOf(program)).toEqual(expected);
  });

  it.each([
    ['deleted', 'was deleted while it was followed', (path: string) => rmSync(path)],
    [
      'replaced by another file',
      'was replaced while it was followed',
      (path: string) => {
        copyFileSync(path, `${path}.new`);
        renameSync(`${path}.new`, path);
      },
    ],
    [
      'overwritten by another database',
      'was replaced while it was followed',
      (path: string) => {
        withDatabase(`${path}.old`, (db) => db.exec('UPDATE database_identity SET id = lower(hex(randomblob(16)))'));
        execute(
          `${path}.old`,
          `INSERT INTO league_changes (run_id, at, league_id, kind, after) VALUES (1, '2026-11-20T12:00:00.000Z', 'x', 'added', '{}'), (1, '2026-11-20T12:00:00.000Z', 'x', 'added', '{}')`,
        );
        copyFileSync(`${path}.old`, path);
      },
    ],
  ])('ends with 74 if the database is %s', async (_, message, change) => {
    const { follow, add, path } = await makeFeed();
    copyFileSync(path, `${path}.old`);
    add(1);
    const program = follow(['--json', '--since', '0']);
    await shows(program, [1, 2, 3, 4]);
    change(path);
    const { code, stderr } = await program.waitForExit();
    expect([code, stderr]).toEqual([74, expect.stringContaining(message)]);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(seqsOf(program)).toEqual([1, 2, 3, 4]);
  });

  it('refuses a --since beyond the end, and --since with --limit', async () => {
    const { path, folder } = await makeFeed();
    const { run } = setUpFor('http://127.0.0.1:1');
    const at = ['changes', '--follow', '--database', path];
    expect(await run([...at, '--since', '4'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('the feed ends at 3'),
    });
    expect(await run([...at, '--since', '1', '--limit', '2'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('--since or --limit'),
    });
    expect(await run(['changes', '--follow', '--database', folder.file('none.db')])).toMatchObject({ code: 74 });
  });
});

describe('changes --follow at a terminal', () => {
  needTerminal();

  it('shows new changes as changes does there, and ends with 0 on Ctrl-C', async () => {
    const { path, folder, add } = await makeFeed();
    const env = { LEAGUE_SYNC_DATABASE: path, TERM: 'xterm' };
    const terminal = startAtTerminal('changes --follow', { cwd: folder.path, env, columns: 80 });
    const screen = () => stripVTControlCharacters(terminal.screen());
    await eventually('the feed is shown', () => /^3 .*\+ League l3$/m.test(screen()));
    add(1);
    await eventually('the change is shown', () => /^4 .*~ A League +city +null → Rome$/m.test(screen()));
    terminal.type(CONTROL_C);
    expect(await terminal.waitForExit()).toBe(0);
  });
});
