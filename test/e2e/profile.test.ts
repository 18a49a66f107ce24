import { describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';

describe('profile', () => {
  it('prints the player as a table and stores it', async () => {
    const bench = await setUp();
    const { code, stdout } = await bench.run(['profile']);
    expect(code).toBe(0);
    const [player] = bench.rows('SELECT * FROM players');
    for (const field of ['player_id', 'username', 'email', 'type', 'profile_pic', 'first_name', 'last_name']) {
      expect(stdout).toContain(String(player?.[field]));
    }
    expect(bench.rows('SELECT kind, trigger, scope, outcome, added FROM runs')).toEqual([
      { kind: 'profile', trigger: 'manual', scope: null, outcome: 'changed', added: 1 },
    ]);
  });

  it('prints one JSON object with --json', async () => {
    const bench = await setUp();
    const { stdout } = await bench.run(['profile', '--json']);
    const [player] = bench.rows('SELECT * FROM players');
    expect(JSON.parse(stdout)).toMatchObject({
      player_id: player?.player_id,
      username: 'player',
      verified: player?.verified === 1,
      premium_items: [],
    });
  });
});
