import { churn, createRandom, pickIndex, startChurn } from '../../../src/simulator/churn.ts';
import { makeLeague, makeLeagues } from '../../support/leagues.ts';
import {
  cut,
  fail,
  grantLogin,
  hang,
  json,
  listLeagues,
  type Reply,
  reset,
  startService,
} from '../../support/service.ts';

export type SoakService = Awaited<ReturnType<typeof startSoakService>>;

/** Most faults are not retried, since the waits between attempts dominate the duration of a soak. */
const WEIGHTED: readonly (readonly [weight: number, reply: Reply])[] = [
  [3, fail(503)],
  [3, fail(503, { 'retry-after': '0' })],
  [1, fail(429, { 'retry-after': '1' })],
  [14, fail(401)],
  [2, cut(JSON.stringify({ leagues: 'x'.repeat(20_000) }))],
  [2, reset()],
  [1, hang()],
  [6, { ...listLeagues([]), delayMs: 40 }],
  [8, { body: '<html>Welcome</html>', headers: { 'content-type': 'text/html' } }],
  [3, { status: 404, body: 'no such path' }],
  [4, json({ message: 'ok', leagues: 'none' })],
];
const FAULTS = WEIGHTED.flatMap(([weight, reply]) => Array<Reply>(weight).fill(reply));
/** Sent in turn, not at random: a soak has too few logins for every fault to occur by chance. */
const LOGIN_FAULTS: readonly Reply[] = [
  fail(401),
  fail(503),
  fail(401),
  fail(503, { 'retry-after': '1' }),
  reset(),
  fail(401),
  cut(JSON.stringify({ result: 'success', message: 'x'.repeat(1_000) })),
  json({ result: 'success' }),
];
const LOGINS_PER_FAULT = 8;
const FAULTY_POLLS = 0.18;
const BORN_EXPIRED = 0.06;
const SHORTEST_LIFE_MS = 1_500;
const LIVES_MS = 3_500;
/** Every token begins with the first one, so that a search for that one finds them all. */
const FIRST_TOKEN = 'soak-token';

const LEAGUES = 300;
/** Elements that cannot be stored, and drift: few kinds, since each one is stored forever. */
const ODD_ELEMENTS: readonly unknown[] = [
  '"not a league"',
  makeLeague('no-name', { league_name: null }),
  makeLeague('no-priority', { priority: 'high' }),
  makeLeague('l1', { league_name: 'another one of the same name' }),
  makeLeague('new-field', { broadcast_partner: 'Example TV' }),
  makeLeague('number-for-text', { sport_db_id: 4391 }),
  makeLeague('no-flag', { rankings: 'maybe' }),
];

/** A service whose leagues change, and that fails at random, in every way that is transient or cured by SIGHUP. */
export async function startSoakService(seed: number) {
  const random = createRandom(seed);
  // A separate random source: the timing of logins must not change the responses to polls.
  const loginRandom = createRandom(seed + 1);
  const service = await startService();
  let leagues = startChurn(makeLeagues(LEAGUES, { default_markets: ['x'.repeat(100)] }));
  let [logins, turmoilLogins, isCalm] = [0, 0, false];

  const pickOne = <T>(items: readonly T[]) => items[pickIndex(items.length, random)];
  const nextList = (): Reply => {
    // Otherwise no poll would be `unchanged`.
    if (random() < 0.5) leagues = churn(leagues, random, Date.now());
    const { listed } = leagues;
    const chance = random();
    // More removals than the guard lets pass: held until the next list.
    if (chance < 0.02) return listLeagues(listed.slice(0, chance < 0.01 ? 0 : LEAGUES / 2));
    if (chance < 0.08) return listLeagues([...listed, pickOne(ODD_ELEMENTS)]);
    if (chance < 0.1) return listLeagues([...listed, ...listed.slice(0, 3)]);
    return listLeagues(listed);
  };
  service.script('login', () => {
    const access_token = logins === 0 ? FIRST_TOKEN : `${FIRST_TOKEN}-${logins}`;
    logins += 1;
    if (!isCalm) turmoilLogins += 1;
    if (!isCalm && turmoilLogins % LOGINS_PER_FAULT === 0)
      return LOGIN_FAULTS[(turmoilLogins / LOGINS_PER_FAULT - 1) % LOGIN_FAULTS.length] ?? reset();
    const lifeMs = loginRandom() < BORN_EXPIRED ? -1_000 : SHORTEST_LIFE_MS + loginRandom() * LIVES_MS;
    return grantLogin({ access_token, expire_datetime: new Date(Date.now() + lifeMs).toISOString() });
  });
  return {
    url: service.url,
    /** Chooses the response to the next poll. */
    nextPoll: (): void => {
      const met: Reply[] = [];
      while (met.length < 3 && random() < FAULTY_POLLS) met.push(pickOne(FAULTS) ?? reset());
      service.script('leagues', ...met, nextList());
    },
    /** Disables or enables faults of logins. */
    calm: (wanted: boolean): void => {
      isCalm = wanted;
    },
    logins: () => logins,
  };
}
