import { beforeAll, describe, expect, it } from 'vitest';
import { type Bench, setUpFor } from '../support/bench.ts';
import { startExpiringService } from '../support/expiring-service.ts';
import { makeLeague } from '../support/leagues.ts';
import { makeFakeClock, missingFaketime, type Offset, runUnder, watchFor } from '../support/libfaketime.ts';
import { eventually, type RunningProgram } from '../support/program.ts';
import { fail, grantLogin, listLeagues, type Reply, startService } from '../support/service.ts';

const EVERY_2_SECONDS = { LEAGUE_SYNC_SCHEDULE: '*/2 * * * * *' };
const SLOT_MS = 2_000;
const LIFE_MS = 6_000;
/** Longer than the first backoff of a token that expired on arrival: 10 s. */
const WATCHED_MS = 13_000;

beforeAll(() => {
  const why = missingFaketime();
  if (why !== undefined) throw new Error(why);
});

describe.each<{ sentence: string; offset: Offset }>([
  { sentence: 'two hours ahead', offset: '+2h' },
  { sentence: 'two hours behind', offset: '-2h' },
])('a clock that is $sentence', ({ offset }) => {
  it("waits for the date in Retry-After by the service's clock, within a run and beyond it", async () => {
    const IN_THE_RUN_MS = 2_000;
    const PAST_THE_RUN_MS = 7_000;
    /** When the service may be called again, on the monotonic clock. */
    const promised: number[] = [];
    const ask = (ms: number): Reply => {
      const until = new Date(Date.now() + ms).toUTCString();
      promised.push(performance.now() + Date.parse(until) - Date.now());
      return fail(503, { 'retry-after': until });
    };
    const service = await startService({
      login: [() => ask(IN_THE_RUN_MS), grantLogin()],
      leagues: [() => ask(PAST_THE_RUN_MS), listLeagues([makeLeague('a')])],
    });
    const bench = setUpFor(service.url);
    const worker = startWith(offset, bench, { LEAGUE_SYNC_RUN_TIMEOUT: '6s' });
    await worker.waitForPoll('failed');
    await worker.waitForPoll('changed');
    await worker.stop();

    expect(service.requests.map(({ kind }) => kind)).toEqual(['login', 'login', 'leagues', 'leagues']);
    expect(service.requests[1]?.beganAt).toBeGreaterThanOrEqual(promised[0] ?? Infinity);
    expect(service.requests[3]?.beganAt).toBeGreaterThanOrEqual(promised[1] ?? Infinity);
    expect(bench.rows('SELECT trigger, outcome FROM runs ORDER BY id')).toEqual([
      { trigger: 'start', outcome: 'failed' },
      { trigger: 'catch-up', outcome: 'changed' },
    ]);
  });
});

describe('without a Date header', () => {
  it('a token that looks long expired is used, and renewed with backoff', async () => {
    const service = await startExpiringService({ lifeMs: 3_600_000, dated: false });
    const bench = setUpFor(service.url);
    const worker = startWith('+2h', bench, EVERY_2_SECONDS);
    await worker.waitForPoll('changed');
    await watchFor(WATCHED_MS);
    const [polls, logins] = [service.polls().length, service.logins().length];
    await worker.stop();

    expect(polls).toBeGreaterThan(WATCHED_MS / SLOT_MS / 2);
    // The first login, and one after 10 s.
    expect(logins).toBeLessThanOrEqual(2);
    expectNoSkew(bench, worker);
    expect(failures(bench)).toEqual([]);
    expect(bench.rows('SELECT expires_at FROM logins ORDER BY id').map((row) => row.expires_at)).toEqual(
      service.expiries,
    );
  });

  it('a token that looks valid for hours is used until its first rejection, and the poll continues', async () => {
    // The `Date` of a cached response is not the current time.
    const service = await startExpiringService({ lifeMs: LIFE_MS, headers: { age: '0' } });
    const bench = setUpFor(service.url);
    const worker = startWith('-2h', bench, EVERY_2_SECONDS);
    await worker.waitForPoll('changed');
    await eventually('two tokens were rejected', () => service.late().length === 2 && service.logins().length === 3);
    await worker.waitForPoll('unchanged');
    await worker.stop();

    expect(new Set(service.late().map((seen) => seen.authorization)).size).toBe(service.late().length);
    expect(service.logins().length).toBe(1 + service.late().length);
    expectNoSkew(bench, worker);
    expect(failures(bench)).toEqual([]);
    expect(bench.rows('SELECT reason FROM logins ORDER BY id').map((row) => row.reason)).toEqual([
      'start',
      ...service.late().map(() => 'rejected-token'),
    ]);
  });
});

function startWith(offset: Offset, bench: Bench, env: Readonly<Record<string, string>>): RunningProgram {
  return runUnder(makeFakeClock(bench.folder, offset), bench, env);
}

function failures({ rows }: Bench) {
  return rows("SELECT id, outcome, error_message FROM runs WHERE outcome = 'failed'");
}

function expectNoSkew({ rows }: Bench, worker: RunningProgram): void {
  expect(rows('SELECT DISTINCT clock_skew_ms FROM logins')).toEqual([{ clock_skew_ms: null }]);
  expect(worker.log().filter((line) => /the service's clock is/.test(String(line.msg)))).toEqual([]);
}
