import { describe, expect, it } from 'vitest';
import { countLogins, EVERY_SECOND, leagueRequests, setUp } from '../support/bench.ts';

describe('the session', () => {
  it('replaces a revoked token within the run', async () => {
    const bench = await setUp();
    const worker = bench.startWorker();
    await worker.waitForPoll('changed');
    bench.simulator.revokeTokens();
    worker.send('SIGHUP');
    await worker.waitForPoll('unchanged');

    expect(leagueRequests(bench.simulator).map((seen) => [seen.status, seen.token])).toEqual([
      [200, 'valid'],
      [401, 'unknown'],
      [200, 'valid'],
    ]);
    expect(countLogins(bench.simulator)).toBe(2);
    await worker.stop();
    expect(bench.rows('SELECT outcome, reason FROM logins ORDER BY id')).toEqual([
      { outcome: 'ok', reason: 'start' },
      { outcome: 'ok', reason: 'rejected-token' },
    ]);
  });
});

describe('wrong credentials', () => {
  it('end sync with 77 after exactly one login, which is recorded as refused', async () => {
    const bench = await setUp();
    const { code, stderr } = await bench.run(['sync'], { LEAGUE_SYNC_PASSWORD: 'wrong-password' });

    expect(code).toBe(77);
    expect(stderr).toContain('LEAGUE_SYNC_PASSWORD');
    expect(countLogins(bench.simulator)).toBe(1);
    expect(leagueRequests(bench.simulator)).toHaveLength(0);
    expect(bench.rows('SELECT outcome, reason, expires_at FROM logins')).toEqual([
      { outcome: 'refused', reason: 'manual', expires_at: null },
    ]);
    expect(bench.rows('SELECT outcome, error_kind FROM runs')).toEqual([
      { outcome: 'failed', error_kind: 'credentials' },
    ]);
  });

  it.each(['profile', 'sync --dry-run'])('end %s with 77 after exactly one login', async (command) => {
    const bench = await setUp();
    const { code } = await bench.run(command.split(' '), { LEAGUE_SYNC_PASSWORD: 'wrong-password' });
    expect(code).toBe(77);
    expect(countLogins(bench.simulator)).toBe(1);
  });

  it('keep `run` up without further requests, even with a run scheduled every second', async () => {
    const bench = await setUp();
    const worker = bench.startWorker({ LEAGUE_SYNC_PASSWORD: 'wrong-password', LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
    for (let failures = 0; failures < 4; failures += 1) await worker.waitForPoll('failed');

    expect(worker.alive()).toBe(true);
    expect(countLogins(bench.simulator)).toBe(1);
    expect(bench.simulator.requests).toHaveLength(1);
    expect((await worker.stop()).code).toBe(0);
  });

  it('are tried again at once on SIGHUP', async () => {
    const bench = await setUp({ faults: ['login-refused'] });
    const worker = bench.startWorker();
    await worker.waitForPoll('failed');
    bench.simulator.setFault('login-refused', false);
    worker.send('SIGHUP');
    await worker.waitForPoll('changed');
    expect(countLogins(bench.simulator)).toBe(2);
  });
});
