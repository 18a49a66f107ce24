import { describe, expect, it } from 'vitest';
import { countLogins, leagueRequests, setUp, setUpFor, setUpSynced } from '../support/bench.ts';
import { runCheck, told, troubles } from '../support/check-command.ts';
import { makeLeague } from '../support/leagues.ts';
import { listLeagues, startService } from '../support/service.ts';

/** A port on which nothing listens: only root may. */
const UNREACHABLE = 'http://127.0.0.1:1';
const AFTER_WAY = ['warn skipped'];

describe('check of a service', () => {
  it('whose name does not resolve', async () => {
    const checked = await runCheck(setUpFor('https://no-such-host.invalid'));
    expect(troubles(checked)).toEqual(['fail name', ...AFTER_WAY]);
    expect(told(checked, 'name')).toMatch(
      /cannot be resolved \((ENOTFOUND|EAI_AGAIN)\) -> check LEAGUE_SYNC_BASE_URL and DNS/,
    );
  });

  it('behind a proxy that refuses connections names the proxy', async () => {
    const bench = setUpFor('https://service.example.test');
    const checked = await runCheck(bench, { https_proxy: UNREACHABLE });
    expect(troubles(checked)).toEqual(['fail connection', ...AFTER_WAY]);
    expect(told(checked, 'connection')).toContain(`through the proxy ${UNREACHABLE} (https_proxy) failed: `);
  });

  it.each([
    ['login-refused', 'fail login', 'check LEAGUE_SYNC_USERNAME and LEAGUE_SYNC_PASSWORD', AFTER_WAY],
    [
      'login-down',
      'fail login',
      'with status 503. It says: "Service unavailable" -> ask the operator of the service',
      AFTER_WAY,
    ],
    ['born-expired', 'warn login', 'ask the operator of the service', []],
    [
      'wrong-clock',
      'warn clock',
      "behind the service's; tokens expire by the service's clock -> correct the wrong clock",
      [],
    ],
    ['bad-rows', 'warn leagues', 'tell the operator of the service', ['warn interface']],
    ['new-field', 'warn interface', '1 departure from the interface; values are kept where possible: ', []],
    ['cut-body', 'fail leagues', 'ask the operator of the service', []],
  ])(
    'with the fault %s says %s and the fix, after as many tries as a poll makes',
    async (fault, trouble, fix, after) => {
      const { simulator, ...bench } = await setUp({ faults: [fault] });
      const checked = await runCheck(bench);
      const others = fault === 'cut-body' ? ['warn profile'] : [];
      expect(troubles(checked)).toEqual([...others, trouble, ...after]);
      expect(told(checked, trouble.slice(5))).toContain(fix);
      expect(countLogins(simulator)).toBe(fault === 'login-down' ? 4 : 1);
      expect(leagueRequests(simulator).length).toBeLessThanOrEqual(fault === 'cut-body' ? 4 : 1);
    },
  );

  it.each([
    [304, [], 2],
    [500, ['warn leagues'], 3],
  ])('that answers a conditional request with %i', async (status, found, requests) => {
    const list = listLeagues([makeLeague('a')], {}, { etag: '"1"' });
    const service = await startService({
      leagues: (_, { headers }) => (headers['if-none-match'] === '"1"' ? { status } : list),
    });
    expect(troubles(await runCheck(setUpFor(service.url)))).toEqual(found);
    expect(service.seen('leagues')).toHaveLength(requests);
  });

  it.each([
    ['not-json', 'is an HTML page -> check that LEAGUE_SYNC_BASE_URL is the address of the service'],
    ['always-401', 'check that API access is enabled for this account'],
    [
      'result-fail',
      'with a failure (status 200, result=fail). It says: "Request failed" -> ask the operator of the service',
    ],
  ])('whose data has the fault %s fails for leagues and profile', async (fault, fix) => {
    const bench = await setUp({ faults: [fault] });
    const checked = await runCheck(bench, { LEAGUE_SYNC_PROFILE_SCHEDULE: '0 * * * *' });
    expect(troubles(checked)).toEqual(['fail profile', 'fail leagues']);
    expect(told(checked, 'leagues')).toContain(fix);
  });

  it('that forbids the profile fails if it is polled, otherwise warns', async () => {
    const bench = await setUp({ faults: ['profile-forbidden'] });
    const polled = await runCheck(bench, { LEAGUE_SYNC_PROFILE_SCHEDULE: '0 * * * *' });
    expect(troubles(polled)).toEqual(['fail profile']);
    expect(told(polled, 'profile')).toMatch(/API access is enabled .*, or set LEAGUE_SYNC_PROFILE_SCHEDULE=off/);
    expect(troubles(await runCheck(bench))).toEqual(['warn profile']);
  });

  it('that would make the guard hold removals warns, with the reason', async () => {
    const bench = await setUpSynced();
    bench.simulator.setFault('drop-third', true);
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual(['warn next poll']);
    expect(told(checked, 'next poll')).toContain('more than 5 leagues, and more than 20% of the live ones');
    expect(told(checked, 'next poll')).toContain('league-sync accept-removals');
  });

  it('that sent Retry-After to an earlier run gets no request', async () => {
    const bench = await setUp({ faults: ['long-pause'] });
    expect((await bench.run(['sync'])).code).toBe(1);
    bench.simulator.setFault('long-pause', false);
    const before = bench.simulator.requests.length;
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual(['warn attention', 'warn service']);
    expect(told(checked, 'attention')).toBe('warn 2 findings -> see league-sync status');
    expect(told(checked, 'service')).toMatch(/not to be called before 20.*\(Retry-After\)/);
    expect(bench.simulator.requests).toHaveLength(before);
  });

  it('that sends Retry-After during the check gets no further request', async () => {
    const bench = await setUp({ faults: ['rate-limit'] });
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual(['warn profile', 'warn service']);
    expect(leagueRequests(bench.simulator)).toEqual([]);
  });
});
