import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { setUp, setUpSynced } from '../support/bench.ts';
import { startProgram } from '../support/program.ts';

describe('profile', () => {
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
