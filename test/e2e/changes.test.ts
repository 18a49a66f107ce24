import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWallClock } from '../support/clock.ts';
import { runCommand } from '../support/command.ts';
import { execute, type Row, readRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { makeLeague } from '../support/leagues.ts';
import { type Exit, type ProgramOptions, runProgram } from '../support/program.ts';
import { needTerminal, showAtTerminal } from '../support/terminal.ts';
import { setUpBench } from '../support/worker-resources.ts';

const FIRST_AT = Date.parse('2026-11-20T12:00:00.000Z');

/** A feed of polls, one minute apart, with these lists, in an otherwise empty folder. String elements are JSON already. */
async function makeFeed(...polls: readonly (readonly unknown[])[]) {
  const folder = makeFolder();
  const cwd = folder.path;
  const path = folder.file('leagues.db');
  let now = FIRST_AT;
  const clock = createWallClock(() => now);
  await using bench = await setUpBench({}, { folder, clock });
  for (const elements of polls) {
    expect((await bench.pollWith(elements)).outcome).toBe('changed');
    now += 60_000;
  }
  /** Runs `changes` with the path of the database as its only setting. */
  const show = (args: readonly string[] = [], { env = {}, ...more }: Partial<ProgramOptions> = {}) =>
    // Only a process of its own has less memory or a pipe.
    (more.into === undefined ? runCommand : runProgram)(['changes', ...args], {
      cwd,
      env: { LEAGUE_SYNC_DATABASE: path, ...env },
      ...more,
    });
  return { path, show };
}

/** Inserts changes of an unlisted league directly; `wide` is their length. */
async function makeLongFeed(changes: number, wide: number) {
  const feed = await makeFeed([makeLeague('l1')]);
  execute(
    feed.path,
    `INSERT INTO league_changes (run_id, at, league_id, kind, before, after)
      WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n LIMIT ${changes - 1})
      SELECT 1, '2026-11-20T12:00:00.000Z', 'long', 'changed', '{"city":null}',
        '{"league_name":"Long League","city":"' || hex(zeroblob(${wide / 2})) || '"}' FROM n`,
  );
  return feed;
}

function linesOf({ code, stdout, stderr }: Exit): readonly string[] {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^$|\n$/);
  return stdout.split('\n').slice(0, -1);
}

function objectsOf(exit: Exit): readonly Row[] {
  return linesOf(exit).map((line): Row => JSON.parse(line));
}

const FIELDS = { league_name: 'First League', rankings: true, city: null, external_id: 'e1', priority: 1.5 };
const FIRST = makeLeague('l1', FIELDS);
const RENAMED = makeLeague('l2', { league_name: 'Second League, renamed' });

/** One league with every kind of change, and another league. */
const LIFE = [
  [
    { ...FIRST, rankings: false, city: 'Rome', priority: 1 },
    { ...RENAMED, league_name: 'Second League' },
  ],
  [FIRST, RENAMED],
  [RENAMED],
  [FIRST, RENAMED],
  [FIRST],
  [FIRST, { ...RENAMED, city: 'Oslo', nickname: 'S' }],
];

describe('changes', { timeout: 60_000 }, () => {
  it('prints one line for each added, changed, removed and restored league', async () => {
    const { show } = await makeFeed(...LIFE);
    expect(linesOf(await show())).toEqual([
      '     1  2026-11-20T12:00:00.000Z  added     First League (l1)',
      '     2  2026-11-20T12:00:00.000Z  added     Second League (l2)',
      '     3  2026-11-20T12:01:00.000Z  changed   First League (l1): priority 1 -> 1.5, rankings false -> true, city "Rome" -> null',
      '     4  2026-11-20T12:01:00.000Z  changed   Second League (l2): league_name "Second League" -> "Second League, renamed"',
      '     5  2026-11-20T12:02:00.000Z  removed   First League (l1)',
      '     6  2026-11-20T12:03:00.000Z  restored  First League (l1)',
      '     7  2026-11-20T12:04:00.000Z  removed   Second League, renamed (l2)',
      '     8  2026-11-20T12:05:00.000Z  restored  Second League, renamed (l2): city null -> "Oslo", extra {} -> {"nickname":"S"}',
    ]);
  });

  it('prints one object per line with --json, with embedded JSON as in the feed', async () => {
    const { show, path } = await makeFeed(...LIFE);
    expect(objectsOf(await show(['--json', '--since', '8']))).toEqual([]);
    const exit = await show(['--json', '--since', '0']);
    const objects = objectsOf(exit);
    const rows = readRows(path, 'SELECT * FROM league_changes ORDER BY seq');
    const embedded = (text: unknown): unknown => (text === null ? null : JSON.parse(String(text)));
    expect(objects.map(({ league_name: _, ...row }) => row)).toEqual(
      rows.map(({ before, after, ...row }) => ({ ...row, before: embedded(before), after: embedded(after) })),
    );
    // The name after the change; of a removal, the name before it.
    const [first, second, renamed] = ['First League', 'Second League', 'Second League, renamed'];
    const names = [first, second, first, renamed, first, first, renamed, renamed];
    expect(objects.map(({ league_name }) => league_name)).toEqual(names);
  });

  it('streams twenty thousand long changes in little memory, to a slow reader too', async () => {
    const { show } = await makeLongFeed(20_000, 1_000);
    const exit = await show(['--since', '0', '--json'], {
      env: { NODE_OPTIONS: '--max-old-space-size=24' },
      into: 'sleep 1; wc -l',
    });
    expect(linesOf(exit).map(Number)).toEqual([20_000]);
  });

  it('escapes control characters in names and values', async () => {
    const evil = '\u001b[2J\r\n\u0007\u009b31m\u202eabc';
    const { show } = await makeFeed(
      [makeLeague('l1', { league_name: evil }), makeLeague(`id${evil}`)],
      [makeLeague('l1', { league_name: evil, city: evil }), makeLeague(`id${evil}`)],
    );
    const exit = await show();
    const spelt = '\\u001b[2J\\u000d\\u000a\\u0007\\u009b31m\\u202eabc';
    expect(linesOf(exit)).toEqual([
      `     1  2026-11-20T12:00:00.000Z  added     ${spelt} (l1)`,
      `     2  2026-11-20T12:00:00.000Z  added     League id${spelt} (id${spelt})`,
      `     3  2026-11-20T12:01:00.000Z  changed   ${spelt} (l1): city null -> "${spelt.replace('\\u000d\\u000a', '\\r\\n')}"`,
    ]);
    expect(linesOf(await show(['--json', '--league', `id${evil}`]))).toHaveLength(1);
  });

  it.each([
    ['--since', ['', 'yesterday', '-1', '1.5', '2026-02-30', '2026-11-20T25:00Z', '12:00', '2026-11']],
    ['--limit', ['', '0', '-1', '1.5', '1e3', 'all', '12345678901234567890']],
  ])('refuses a %s that it cannot read with 64, and names the option', async (option, values) => {
    const { path: cwd } = makeFolder();
    for (const value of values) {
      const { code, stdout, stderr } = await runCommand(['changes', `${option}=${value}`], { cwd });
      expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^league-sync: .*${option}.*\\b(number|date)\\b`));
      expect(stderr).not.toMatch(/^\s+at /m);
    }
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('takes a league by its id or its name, and the id first', async () => {
    const { show } = await makeFeed([
      makeLeague('NBA', { league_name: 'Not the NBA' }),
      makeLeague('l2', { league_name: 'NBA' }),
      makeLeague('l3', { league_name: 'Lega Serie A' }),
      makeLeague('l4', { league_name: 'Premier League', sport: 'soccer' }),
      makeLeague('l5', { league_name: 'Premier League', sport: 'cricket' }),
      makeLeague('l6', { league_name: 'premier league' }),
    ]);
    const idsOf = async (league: string) =>
      objectsOf(await show(['--json', '--league', league])).map(({ league_id }) => league_id);
    expect(await idsOf('NBA')).toEqual(['NBA']);
    expect(await idsOf('l2')).toEqual(['l2']);
    expect(await idsOf('Lega Serie A')).toEqual(['l3']);
    expect(await idsOf('lega serie a')).toEqual(['l3']);
    expect(await idsOf('premier league')).toEqual(['l6']);
    expect(await show(['--league', 'Premier League'])).toMatchObject({
      code: 64,
      stdout: '',
      stderr:
        'league-sync: 2 leagues have the name "Premier League"; use the league_id of one: l5 (cricket), l4 (soccer).\n',
    });
    expect(await show(['--league', 'L2', '--json'])).toMatchObject({
      code: 64,
      stdout: '',
      stderr: 'league-sync: There is no league with the id or the name "L2".\n',
    });
  });

  it('says which league had a name that none has any longer', async () => {
    const { show } = await makeFeed(
      [makeLeague('l1', { league_name: 'MotoGP' })],
      [makeLeague('l1', { league_name: 'Grand Prix' })],
    );
    expect((await show(['--league', 'motogp'])).stderr).toBe(
      'league-sync: No league is named "motogp" any longer; use the league_id of one that was: l1.\n',
    );
  });
});

describe('changes at a terminal', { timeout: 60_000 }, () => {
  needTerminal();

  it('shows by day the old and new value of each field, and no id', async () => {
    const { path } = await makeFeed(...LIFE);
    const env = { LEAGUE_SYNC_DATABASE: path, TERM: 'xterm' };
    const { code, lines } = await showAtTerminal('changes', { cwd: dirname(path), env, columns: 80 });
    expect([code, lines.filter((line) => line.length > 80)]).toEqual([0, []]);
    expect(lines.map((line) => line.trim().replace(/ {2,}/g, '  '))).toEqual([
      'Fri 2026-11-20 (UTC)',
      '1  12:00  + First League',
      '2  12:00  + Second League',
      '3  12:01  ~ First League  priority  1 → 1.5',
      'rankings  false → true',
      'city  Rome → null',
      '4  12:01  ~ Second League  league_name  Second League + ", renamed"',
      '5  12:02  − First League',
      '6  12:03  ↺ First League',
      '7  12:04  − Second League, renamed',
      '8  12:05  ↺ Second League, renamed  city  null → Oslo',
      'extra  {} → {"nickname":"S"}',
    ]);
    // The values are on separate lines.
    const [third = '', rankings = ''] = lines.slice(3);
    expect(rankings.indexOf('rankings')).toBe(third.indexOf('priority'));
    expect(rankings.indexOf('false →')).toBe(third.indexOf('1 →'));
  });
});
