import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bench, setUpFor } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import type { Exit } from '../support/program.ts';
import { grantLogin, json, listLeagues, type Reply, type Seen, startService } from '../support/service.ts';

const USERNAME = 'canary-name';
const PASSWORD = 'canary-password-4711';
const PAIR = Buffer.from(`${USERNAME}:${PASSWORD}`).toString('base64');
const TRACE = {
  LEAGUE_SYNC_USERNAME: USERNAME,
  LEAGUE_SYNC_PASSWORD: PASSWORD,
  LEAGUE_SYNC_LOG_LEVEL: 'trace',
  LEAGUE_SYNC_PROFILE_SCHEDULE: 'off',
};

/** All places of a response that may contain a token; each is stored or reported differently. */
const PLACES: Readonly<Record<string, (said: string) => Reply>> = {
  'the name of a field of the answer': (said) => listLeagues([makeLeague('a')], { [said]: 1 }),
  'the name of a field of a league': (said) => listLeagues([makeLeague('a', { [said]: 1 })]),
  'a field of a league': (said) => listLeagues([makeLeague('a', { league_name: said, city: `in ${said}` })]),
  'the id of a league': (said) => listLeagues([makeLeague(said)]),
  'a JSON field of a league': (said) => listLeagues([makeLeague('a', { default_markets: [{ [said]: said }] })]),
  'an unknown field of a league': (said) => listLeagues([makeLeague('a', { debug: { authorization: said } })]),
  'an optional field of a wrong type': (said) => listLeagues([makeLeague('a', { rankings: said, city: [said] })]),
  'a rejected league': (said) => listLeagues([makeLeague('a'), makeLeague('b'), { league_id: 'c', debug: said }]),
  'a text in place of a league': (said) => listLeagues([makeLeague('a'), makeLeague('b'), JSON.stringify(said)]),
  'the message': (said) => listLeagues([makeLeague('a')], { message: `You sent ${said}`, timestamp: { asked: said } }),
  'an ETag': (said) => listLeagues([makeLeague('a')], {}, { etag: `"${said}"` }),
  'an error': (said) => json({ result: 'none', message: `Bad request with ${said}`, error: said }, 400),
  'a redirect': (said) => json(JSON.stringify(said), 302, { location: `https://example.com/${said}?token=${said}` }),
  'a refusal': (said) => json({ result: 'fail', message: said, detail: { authorization: said } }, 401),
};

/** A league or a player with the token in every field that does not get it rejected. */
function fill(said: string) {
  return { city: `in ${said}`, rankings: said, default_markets: [{ [said]: said }], [said]: said, debug: { said } };
}

const CANARY = grantLogin({ access_token: 'canary-token-1', 'x-canary-token-1': 1 });

function tokenOf({ authorization }: Seen): string {
  return authorization.replace(/^Bearer /, '');
}

/** All output that others may read: the logs and every file beside the database. */
function everythingWritten({ database }: Bench, ...exits: readonly Exit[]): string {
  const files = readdirSync(dirname(database)).map((name) => readFileSync(join(dirname(database), name), 'latin1'));
  return [...exits.flatMap(({ stdout, stderr }) => [stdout, stderr]), ...files].join('\n');
}

const FORBIDDEN = [PASSWORD, PAIR, encodeURIComponent(PAIR), 'canary-token', 'Bearer ', 'Basic '];

function expectNoSecret(written: string, more: readonly string[] = []): void {
  expect([...FORBIDDEN, ...more].filter((secret) => written.includes(secret))).toEqual([]);
}

describe('neither the password, nor its Basic pair, nor a token is written anywhere', () => {
  it.each([401, 200])('by a login that is refused with %i, repeating what it was sent', async (status) => {
    const service = await startService({
      login: (_response, { authorization }) => {
        const decoded = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
        return json({ result: 'fail', message: `${authorization} is ${decoded}`, sent: authorization }, status);
      },
    });
    const bench = setUpFor(service.url);
    const exit = await bench.run(['sync'], TRACE);
    expect(exit.code).toBe(77);
    expect(bench.rows('SELECT outcome FROM logins')).toEqual([{ outcome: 'refused' }]);
    expectNoSecret(everythingWritten(bench, exit).replaceAll('Basic [secret]', ''));
  });
});

describe('a token that the service repeats is written nowhere and printed nowhere', () => {
  it('by a worker, wherever in a response it stands', async () => {
    let say = PLACES['a field of a league'];
    const service = await startService({ login: CANARY, leagues: (_response, seen) => say?.(tokenOf(seen)) });
    const bench = setUpFor(service.url);
    const worker = bench.startWorker(TRACE);
    await worker.waitForPoll('changed');
    const leaks: string[] = [];
    for (const [place, repeat] of Object.entries(PLACES)) {
      say = repeat;
      const logged = worker.log().length;
      await worker.pollNow();
      const written = everythingWritten(bench) + JSON.stringify(worker.log().slice(logged));
      if (written.includes('canary-token')) leaks.push(place);
    }
    expect(leaks).toEqual([]);
    expectNoSecret(everythingWritten(bench, await worker.stop()));
    expect(bench.rows('SELECT count(*) AS n FROM rejected_leagues')).toEqual([{ n: 2 }]);
    expect(bench.rows('SELECT count(*) AS n FROM leagues')[0]?.n).toBeGreaterThanOrEqual(3);
  });

  it.each(['profile', 'profile --json'])('by %s', async (command) => {
    const service = await startService({
      login: CANARY,
      profile: (_response, seen) => {
        const said = tokenOf(seen);
        const player = { ...fill(said), player_id: said, username: said, verified: said };
        return json({ message: said, player, player_premium_items: [{ [said]: said }], [said]: said });
      },
    });
    const bench = setUpFor(service.url);
    const exit = await bench.run(command.split(' '), TRACE);
    expect(exit.code).toBe(0);
    expectNoSecret(everythingWritten(bench, exit));
    expect(bench.rows('SELECT count(*) AS n FROM players')).toEqual([{ n: 1 }]);
  });
});
