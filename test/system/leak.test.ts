import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { type Bench, PASSWORD, setUpFor, USERNAME } from '../support/bench.ts';
import { makeLeague } from '../support/leagues.ts';
import { grantLogin, listLeagues, startService } from '../support/service.ts';

const TOKEN = 'token-of-this-test';
const REFRESH = 'renewal-of-this-test';
/** Secrets that only appear in requests, such as a password that was rotated twice. */
const SENT = { password: 'rotated-long-ago', token: 'issued-by-someone' };
/** The secret part of a heartbeat URL. */
const CHECK = 'check-of-this-test';
const PAIR = `${USERNAME}:${PASSWORD}`;

/** A bench on whose database a sync has run, so that its secrets have been used. */
async function setUpSynced(): Promise<Bench> {
  const login = grantLogin({ access_token: TOKEN, refresh_token: REFRESH });
  const service = await startService({ login, leagues: listLeagues([makeLeague('a')]) });
  const bench = setUpFor(service.url);
  for (const authorization of [`Basic ${btoa(`${USERNAME}:${SENT.password}`)}`, `Bearer ${SENT.token}`])
    await (await fetch(service.url, { headers: { authorization } })).text();
  await bench.run(['sync'], { LEAGUE_SYNC_HEARTBEAT_URL: `https://127.0.0.1:9/${CHECK}?create=1` });
  return bench;
}

const SECRETS = [
  ['the password as base64', btoa(PASSWORD)],
  ['the Basic pair', btoa(PAIR)],
  ['the Basic pair without its padding', btoa(PAIR).replace(/=+$/, '')],
  ['the Basic pair in a URL', encodeURIComponent(btoa(PAIR))],
  ['the Basic pair before it is encoded', PAIR],
  ['an access token', TOKEN],
  ['a refresh token, which is never sent', REFRESH],
  ['a password that was sent', SENT.password],
  ['a token that was sent', SENT.token],
  ['the address of the heartbeat', CHECK],
] as const;

const leave = ({ folder }: Bench, word: string): void =>
  writeFileSync(join(folder, 'data', 'left'), `\u0001${word}\u0002`);
/** Each way is also tested with a word that is not a secret, which must not fail the test. */
const WAYS: readonly (readonly [string, (bench: Bench, word: string) => unknown])[] = [
  ['says on stdout', (bench, word) => bench.run(['query', `SELECT '${word}' AS said`])],
  ['says on stderr', (bench, word) => bench.run(['query', `SELECT "${word}"`])],
  ['leaves in a file', leave],
];

describe.each(WAYS)('a test in which the program %s', (_way, tell) => {
  it('a word that is not a secret passes', async () => {
    await tell(await setUpSynced(), 'no-secret-at-all');
  });

  it.fails('the password fails', async () => {
    await tell(await setUpSynced(), PASSWORD);
  });
});

it.fails.each(SECRETS)('a test in which the program leaves %s in a file fails', async (_name, secret) => {
  await leave(await setUpSynced(), secret);
});

it.fails('a test fails if the program prints the heartbeat URL from a file', async () => {
  const bench = await setUpSynced();
  writeFileSync(join(bench.folder, 'heartbeat'), 'https://127.0.0.1:9/check-in-a-file\n');
  await bench.run(['query', "SELECT 'check-in-a-file'"], { LEAGUE_SYNC_HEARTBEAT_URL_FILE: 'heartbeat' });
});

it.fails('a test whose password is too short to be searched for fails', async () => {
  const bench = setUpFor('http://127.0.0.1:9');
  await bench.run(['status'], { LEAGUE_SYNC_PASSWORD: 'short' });
});
