import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countLogins, leagueRequests, type SimulatedBench, setUp } from '../support/bench.ts';
import { execute } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';
import { makeLeague } from '../support/leagues.ts';
import { readLines } from '../support/program.ts';
import { needTerminal, showAtTerminal } from '../support/terminal.ts';

/** A service and a database with the same ten leagues. */
async function setUpInStep(): Promise<SimulatedBench> {
  const bench = await setUp({
    leagues: Array.from({ length: 10 }, (_, index) => makeLeague(`l${index}`, { priority: 1 })),
  });
  expect((await bench.run(['sync'])).code).toBe(0);
  return bench;
}

/** Removes, changes and adds one league each. */
function moveOn({ simulator }: SimulatedBench): void {
  const [, second, ...others] = simulator.leagues();
  simulator.setLeagues([{ ...Object(second), priority: 7, league_name: 'New name' }, ...others, makeLeague('l10')]);
}

describe('sync', () => {
  it('polls once, says what it did on stdout and nothing else, and exits 0', async () => {
    const bench = await setUp();
    const { code, stdout, stderr } = await bench.run(['sync']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^leagues: changed: 124 received, 124 added \(.+\)\n$/);
    expect(countLogins(bench.simulator)).toBe(1);
    expect(leagueRequests(bench.simulator)).toHaveLength(1);
    expect(bench.rows('SELECT trigger, outcome, added FROM runs')).toEqual([
      { trigger: 'manual', outcome: 'changed', added: 124 },
    ]);
    expect(bench.rows('SELECT reason, outcome FROM logins')).toEqual([{ reason: 'manual', outcome: 'ok' }]);
    expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
  });

  it('logs what it did to stderr if a level is set', async () => {
    const bench = await setUp();
    const { stderr } = await bench.run(['sync'], { LEAGUE_SYNC_LOG_LEVEL: 'info' });
    expect(readLines(stderr)).toMatchObject([
      { msg: expect.stringMatching(/^there was no database at .*: created a new one$/) },
      { outcome: 'ok', msg: expect.stringMatching(/^logged in \(manual\); token expires 2/) },
      { outcome: 'changed', added: 124, msg: expect.stringMatching(/^leagues: changed: 124 received/) },
    ]);
  });
});

describe('sync --dry-run', () => {
  it('creates neither a database nor a folder', async () => {
    const bench = await setUp();
    const { code, stdout } = await bench.run(['sync', '--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toContain('124');
    expect(readdirSync(bench.folder)).toEqual([]);
  });

  it('prints what would be added, changed and removed, and changes no byte', async () => {
    const bench = await setUpInStep();
    moveOn(bench);
    const before = fingerprint(bench.folder);
    const { code, stdout } = await bench.run(['sync', '--dry-run']);

    expect(code).toBe(0);
    expect(fingerprint(bench.folder)).toEqual(before);
    expect(stdout.trimEnd().split('\n')).toEqual([
      'added     League l10 (l10)',
      'changed   League l1 (l1): league_name "League l1" -> "New name", priority 1 -> 7',
      'removed   League l0 (l0)',
      'dry run: changed: 10 received, 1 added, 1 changed, 1 removed, 8 unchanged; nothing was written',
    ]);
  });

  it('says what would be held, and why', async () => {
    const bench = await setUpInStep();
    bench.simulator.setFault('empty-list', true);
    const lines = (await bench.run(['sync', '--dry-run'])).stdout.trimEnd().split('\n');
    expect(lines.slice(0, -1)).toEqual(
      Array.from({ length: 10 }, (_, index) => `held      League l${index} (l${index})`),
    );
    expect(lines.at(-1)).toBe(
      'dry run: held: 0 received, 10 held; held because the list is empty; nothing was written',
    );
  });

  it.each([
    ['not-json', 1, /^$/, /^league-sync: \S.*\n$/],
    ['empty-list', 3, /^leagues: held: .*; held because .*; league-sync accept-removals shows them\n$/, /^$/],
    ['login-refused', 77, /^$/, /^league-sync: .*; check LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_PASSWORD/],
  ])('with %s exits %i and writes nothing, as sync would, which says why', async (fault, code, stdout, stderr) => {
    const bench = await setUpInStep();
    bench.simulator.setFault(fault, true);
    const before = fingerprint(bench.folder);
    expect((await bench.run(['sync', '--dry-run'])).code).toBe(code);
    expect(fingerprint(bench.folder)).toEqual(before);
    const exit = await bench.run(['sync']);
    expect(exit).toMatchObject({ code, stdout: expect.stringMatching(stdout), stderr: expect.stringMatching(stderr) });
  });
});

describe('at a terminal', () => {
  needTerminal();

  const show = ({ folder: cwd, env }: SimulatedBench, args: string) =>
    showAtTerminal(args, { cwd, env: { ...env, TERM: 'xterm' }, columns: 80 });

  it('the first sync says how to look at the leagues, and a dry run counts what changes alike', async () => {
    const bench = await setUp();
    const all = '→ all of them: league-sync sync --dry-run | cat';
    expect((await show(bench, 'sync --dry-run')).lines).toEqual([
      'added  124 leagues: NFL, NFL Preseason, NCAA Football, …',
      ...[all, '', 'dry run  124 added; nothing was written'],
    ]);
    expect((await show(bench, 'sync')).lines).toEqual([
      expect.stringMatching(/^leagues {2}124 added \(.+\)$/),
      '→ league-sync query "SELECT league_name, sport FROM active_leagues"',
    ]);
    bench.simulator.setFault('new-field', true);
    execute(bench.database, "UPDATE leagues SET priority = 99 WHERE league_name = 'UFL'");
    const { lines } = await show(bench, 'sync --dry-run');
    expect(lines).toEqual([
      'changed  124 leagues  extra  {} → {"broadcast_partner":"Example TV"}',
      'changed  UFL  priority  99 → 5',
      ...[all, '', 'dry run  124 changed; nothing was written'],
    ]);
    bench.simulator.setFault('down', true);
    expect((await show(bench, 'sync')).lines.at(-1)).toBe('             → league-sync check');
    bench.simulator.setFault('down', false);
    bench.simulator.setFault('login-refused', true);
    expect((await show(bench, 'sync')).lines.slice(-2)).toEqual([
      '             → check LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_PASSWORD, and that API',
      '               access is enabled for this account',
    ]);
  });
});
