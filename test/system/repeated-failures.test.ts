import { describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';

const WARN = 40;

describe('a worker whose service fails', () => {
  it('logs the failure once, a short line per poll, and the recovery once', async () => {
    const bench = await setUp({ faults: ['not-json'] });
    const worker = bench.start(['run']);
    const poll = (outcome: string) => {
      worker.send('SIGHUP');
      return worker.waitForPoll(outcome);
    };
    await worker.waitForPoll('failed');
    for (let polls = 0; polls < 2; polls += 1) await poll('failed');
    bench.simulator.setFault('not-json', false);
    const recovery = await poll('changed');
    await poll('unchanged');
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
});
