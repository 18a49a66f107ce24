import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { setUp, setUpSynced } from '../support/bench.ts';
import { startProgram } from '../support/program.ts';

describe('profile', () => {
  it('says once on stderr why it failed', async () => {
    const bench = await setUp({ faults: ['not-json'] });
    const { code, stdout, stderr } = await bench.run(['profile']);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^league-sync: \S.*\n$/);
  });

  it('prints the player as a table and stores it', async () => {
    const bench = await setUp();
    const { code, stdout } = await bench.run(['profile']);
    expect(code).toBe(0);
    const [player] = bench.rows('SELECT * FROM players');
    for (const field of ['player_id', 'username', 'email', 'type', 'profile_pic', 'first_name', 'last_name']) {
      expect(stdout).toContain(String(player?.[field]));
    }
    expect(player).toMatchObject({ username: 'player', extra: '{}', premium_items: '[]' });
    expect([0, 1]).toContain(player?.verified);
    expect(bench.rows('SELECT kind, trigger, scope, outcome, added FROM runs')).toEqual([
      { kind: 'profile', trigger: 'manual', scope: null, outcome: 'changed', added: 1 },
    ]);
  });

  it('prints one JSON object with --json, and records a second look as unchanged', async () => {
    const bench = await setUp();
    const first = await bench.run(['profile', '--json']);
    const second = await bench.run(['profile', '--json']);
    const [player] = bench.rows('SELECT * FROM players');
    expect(JSON.parse(first.stdout)).toMatchObject({
      player_id: player?.player_id,
      username: 'player',
      verified: player?.verified === 1,
      premium_items: [],
    });
    expect(second.stdout).toBe(first.stdout);
    expect(bench.rows('SELECT outcome FROM runs ORDER BY id')).toEqual([
      { outcome: 'changed' },
      { outcome: 'unchanged' },
    ]);
  });

  it('is polled by the worker after the leagues', async () => {
    const bench = await setUp();
    const worker = bench.startWorker({ LEAGUE_SYNC_PROFILE_SCHEDULE: '0 0 29 2 *' });
    await worker.waitForLog((line) => line.kind === 'profile' && line.outcome === 'changed');
    expect(bench.simulator.requests.map((seen) => seen.path)).toEqual([
      '/players/v1/authenticate/login',
      '/events/v1/leagues/',
      '/players/v1/players/player/me',
    ]);
  });
});

describe('status', () => {
  it('prints the same as JSON with --json', async () => {
    const bench = await setUpSynced();
    bench.simulator.setFault('drop-third', true);
    await bench.run(['sync']);
    const { code, stdout } = await bench.run(['status', '--json']);
    expect(code).toBe(0);
    const status: unknown = JSON.parse(stdout);
    const [last] = bench.rows('SELECT finished_at FROM runs ORDER BY id DESC LIMIT 1');
    const [login] = bench.rows('SELECT at FROM logins ORDER BY id DESC LIMIT 1');
    expect(status).toMatchObject({
      database: 'data/leagues.db',
      token_expires_at: null,
      last_login: { at: login?.at, outcome: 'ok', error_message: null },
      last_runs: [
        {
          id: 2,
          kind: 'leagues',
          trigger: 'manual',
          outcome: 'held',
          received: 83,
          removed: 0,
        },
        { id: 1, kind: 'leagues', trigger: 'manual', outcome: 'changed', received: 124, added: 124 },
      ],
      freshness: {
        last_success_at: last?.finished_at,
        last_outcome: 'held',
        consecutive_failures: 0,
        live_leagues: 124,
        removed_leagues: 0,
        held_removals: 41,
        open_rejections: 0,
      },
    });
  });
});

describe.skipIf(!existsSync('/dev/full'))('an output that has no room', () => {
  it.each(['status', 'sync'])('lets %s exit 1 after finishing its work', async (command) => {
    const bench = await setUpSynced();
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const exit = await startProgram([command], { cwd: bench.folder, env: bench.env, stdout: full }).waitForExit();
    expect(exit.code).toBe(1);
    expect(exit.stderr).toContain(
      'league-sync: The output could not be written (ENOSPC); redirect it to a place with free space.',
    );
    expect(exit.stderr).not.toContain('    at ');
    const runs = command === 'sync' ? 2 : 1;
    expect(bench.rows("SELECT count(*) AS n FROM runs WHERE outcome IN ('changed', 'unchanged')")).toEqual([
      { n: runs },
    ]);
    expect(readdirSync(dirname(bench.database)).filter((name) => /-wal$|-shm$|\.lock$/.test(name))).toEqual([]);
  });
});
