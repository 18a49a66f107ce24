import { describe, expect, it } from 'vitest';
import { countLogins, EVERY_SECOND, setUp, setUpFor } from '../support/bench.ts';
import { eventually } from '../support/program.ts';
import { fail, startService } from '../support/service.ts';

const WARN = 40;

describe('a worker whose service fails', () => {
  it('logs the failure once, a short line per poll, and the recovery once', async () => {
    const bench = await setUp({ faults: ['not-json'] });
    const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
    for (let polls = 0; polls < 3; polls += 1) await worker.waitForPoll('failed');
    bench.simulator.setFault('not-json', false);
    const recovery = await worker.waitForPoll('changed');
    await worker.waitForPoll('unchanged');
    await worker.stop();
    const polls = worker.log().filter(({ kind, outcome }) => kind === 'leagues' && outcome === 'failed');
    expect(polls.map(({ level }) => level === WARN)).toEqual(polls.map((_, index) => index === 0));
    expect(polls[1]).toMatchObject({
      failures: 2,
      attempts: 1,
      msg: expect.stringMatching(/^leagues: failed as before/),
    });
    expect(recovery.msg).toMatch(new RegExp(`; recovered after ${polls.length} failed polls in `));
    expect(worker.log().filter(({ msg }) => /recovered/.test(String(msg)))).toHaveLength(1);
    expect(bench.rows("SELECT count(*) AS n FROM runs WHERE outcome = 'failed'")).toEqual([{ n: polls.length }]);
  });

  it('does not count polls postponed by Retry-After as failures', async () => {
    await using service = await startService({ login: fail(429, { 'retry-after': '600' }) });
    const bench = setUpFor(service.url);
    const env = { LEAGUE_SYNC_LOG_LEVEL: 'debug', LEAGUE_SYNC_PROFILE_SCHEDULE: '0 0 29 2 *' };
    const worker = bench.start(['run'], env);
    const { err } = await worker.waitForLog(({ kind, outcome }) => kind === 'profile' && outcome === 'failed');
    expect(err).toMatchObject({ message: expect.stringMatching(/nothing is sent until then\.$/) });
    await worker.stop();
    expect(service.requests).toHaveLength(1);
    expect(worker.log().filter(({ msg }) => /^login failed/.test(String(msg)))).toHaveLength(1);
  });

  it('has one warning for all attempts of a login, and a row for each', async () => {
    const bench = await setUp({ faults: ['login-down'] });
    const worker = bench.start(['run']);
    await worker.waitForPoll('failed');
    await eventually('it goes on trying', () => countLogins(bench.simulator) > 4);
    await worker.stop();
    const said = worker.log().filter(({ msg }) => /^login /.test(String(msg)));
    expect(said).toMatchObject([
      { level: WARN, outcome: 'failed', msg: expect.stringContaining('login failed (start)') },
    ]);
    expect(bench.rows("SELECT count(*) > 3 AS several FROM logins WHERE outcome = 'failed'")).toEqual([{ several: 1 }]);
  });
});
