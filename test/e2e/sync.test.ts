import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countLogins, leagueRequests, type SimulatedBench, setUp } from '../support/bench.ts';
import { dump, fingerprint } from '../support/database.ts';
import { readLines } from '../support/program.ts';
import { makeLeague } from '../support/service.ts';

/** A service and a database that hold the same ten leagues. */
async function setUpInStep(): Promise<SimulatedBench> {
  const bench = await setUp({ leagues: Array.from({ length: 10 }, (_, index) => makeLeague(`l${index}`)) });
  expect((await bench.run(['sync'])).code).toBe(0);
  return bench;
}

/** One league less, one changed, one more. */
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

  it('logs on stderr what it did where a level is set', async () => {
    const bench = await setUp();
    const { stderr } = await bench.run(['sync'], { LEAGUE_SYNC_LOG_LEVEL: 'info' });
    expect(readLines(stderr)).toMatchObject([
      { outcome: 'ok', msg: expect.stringMatching(/^logged in \(manual\); token expires 2/) },
      { outcome: 'changed', added: 124, msg: expect.stringMatching(/^leagues: changed: 124 received/) },
    ]);
  });

  it('records what was added, changed, removed and restored', async () => {
    const bench = await setUpInStep();
    const first = bench.simulator.leagues();
    moveOn(bench);
    expect((await bench.run(['sync'])).code).toBe(0);
    bench.simulator.setLeagues(first);
    expect((await bench.run(['sync'])).code).toBe(0);

    expect(
      bench.rows('SELECT league_id, kind FROM league_changes WHERE run_id > 1 ORDER BY run_id, league_id'),
    ).toEqual([
      { league_id: 'l0', kind: 'removed' },
      { league_id: 'l1', kind: 'changed' },
      { league_id: 'l10', kind: 'added' },
      { league_id: 'l0', kind: 'restored' },
      { league_id: 'l1', kind: 'changed' },
      { league_id: 'l10', kind: 'removed' },
    ]);
    expect(bench.rows('SELECT count(*) AS n FROM leagues WHERE removed_at IS NULL')).toEqual([{ n: 10 }]);
  });

  it.each(['not-json', 'always-401'])(
    'exits not 0 and changes no league when the service fails (%s)',
    async (fault) => {
      const bench = await setUpInStep();
      const before = bench.rows('SELECT * FROM leagues');
      bench.simulator.setFault(fault, true);
      const { code, stdout, stderr } = await bench.run(['sync']);
      expect(code).toBe(fault === 'not-json' ? 1 : 77);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^league-sync: \S.*\n$/);
      expect(bench.rows('SELECT * FROM leagues')).toEqual(before);
      expect(bench.rows('SELECT outcome FROM runs WHERE id = 2')).toEqual([{ outcome: 'failed' }]);
    },
  );

  it('exits 1 after four attempts at a service that is down', async () => {
    const bench = await setUpInStep();
    bench.simulator.setFault('down', true);
    const seenBefore = bench.simulator.requests.length;
    expect((await bench.run(['sync'])).code).toBe(1);
    expect(bench.simulator.requests.length - seenBefore).toBe(4);
  });

  it('exits 1 where nothing answers', async () => {
    const bench = await setUp();
    await bench.simulator.close();
    expect((await bench.run(['sync'])).code).toBe(1);
    expect(bench.rows('SELECT outcome, error_kind FROM runs')).toEqual([{ outcome: 'failed', error_kind: 'network' }]);
  });

  it.each(['empty-list', 'drop-third'])(
    'exits 3 and removes nothing when the guard holds removals (%s)',
    async (fault) => {
      const bench = await setUp();
      expect((await bench.run(['sync'])).code).toBe(0);
      bench.simulator.setFault(fault, true);
      const { code, stdout, stderr } = await bench.run(['sync']);

      expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
      expect(stdout).toMatch(/^leagues: held: .*; held because .*; league-sync accept-removals shows them\n$/);
      const held = fault === 'empty-list' ? 124 : 41;
      expect(bench.rows('SELECT count(*) AS n FROM held_removals')).toEqual([{ n: held }]);
      expect(bench.rows('SELECT count(*) AS n FROM leagues WHERE removed_at IS NULL')).toEqual([{ n: 124 }]);
      expect(bench.rows('SELECT outcome, held, removed FROM runs WHERE id = 2')).toEqual([
        { outcome: 'held', held, removed: 0 },
      ]);
    },
  );

  it('releases what was held when the leagues are listed again', async () => {
    const bench = await setUp();
    await bench.run(['sync']);
    bench.simulator.setFault('drop-third', true);
    await bench.run(['sync']);
    bench.simulator.setFault('drop-third', false);
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(bench.rows('SELECT * FROM held_removals')).toEqual([]);
    expect(bench.rows("SELECT * FROM league_changes WHERE kind <> 'added'")).toEqual([]);
  });

  it('asks for the leagues of one status only, and removes no other', async () => {
    const bench = await setUp();
    await bench.run(['sync']);
    expect((await bench.run(['sync'], { LEAGUE_SYNC_STATUS: 'active' })).code).toBe(0);
    expect(leagueRequests(bench.simulator).map((seen) => seen.path)).toEqual([
      '/events/v1/leagues/',
      '/events/v1/leagues/?status=active',
    ]);
    expect(bench.rows('SELECT count(*) AS n FROM leagues WHERE removed_at IS NULL')).toEqual([{ n: 124 }]);
    expect(bench.rows('SELECT scope, outcome FROM runs WHERE id = 2')).toEqual([
      { scope: 'active', outcome: 'unchanged' },
    ]);
  });
});

describe('sync --dry-run', () => {
  it('makes no database and no folder where there is none', async () => {
    const bench = await setUp();
    const { code, stdout } = await bench.run(['sync', '--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toContain('124');
    expect(readdirSync(bench.folder)).toEqual([]);
  });

  it('leaves an empty file where it finds one', async () => {
    const bench = await setUp();
    mkdirSync(dirname(bench.database));
    writeFileSync(bench.database, '');
    const before = fingerprint(bench.folder);
    expect((await bench.run(['sync', '--dry-run'])).code).toBe(0);
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it('prints what would be added, changed and removed, and leaves every byte as it is', async () => {
    const bench = await setUpInStep();
    moveOn(bench);
    const before = fingerprint(bench.folder);
    const { code, stdout } = await bench.run(['sync', '--dry-run']);

    expect(code).toBe(0);
    expect(fingerprint(bench.folder)).toEqual(before);
    expect(stdout).toMatch(/^\+ .*\bl10\b/m);
    expect(stdout).toMatch(/^~ .*\bl1\b/m);
    expect(stdout).toMatch(/priority: 1 -> 7/);
    expect(stdout).toMatch(/^- .*\bl0\b/m);
    expect(stdout).not.toMatch(/\bl2\b/);
  });

  it('writes nothing while a worker runs either', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    const before = dump(bench.database);
    bench.simulator.setLeagues(bench.simulator.leagues().slice(1));
    expect((await bench.run(['sync', '--dry-run'])).code).toBe(0);
    expect(dump(bench.database)).toEqual(before);
  });

  it.each([
    ['not-json', 1],
    ['empty-list', 3],
    ['login-refused', 77],
  ])('with %s exits %i, as sync would', async (fault, expected) => {
    const bench = await setUpInStep();
    bench.simulator.setFault(fault, true);
    const before = fingerprint(bench.folder);
    expect((await bench.run(['sync', '--dry-run'])).code).toBe(expected);
    expect(fingerprint(bench.folder)).toEqual(before);
    expect((await bench.run(['sync'])).code).toBe(expected);
  });

  it('counts a poll that would change nothing as such', async () => {
    const bench = await setUpInStep();
    const { code, stdout } = await bench.run(['sync', '--dry-run']);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/^[+~^?-] /m);
  });
});
