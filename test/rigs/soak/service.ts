import { createRandom, pickIndex, type Random } from '../../../src/simulator/churn.ts';
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
import { createSoakList } from './list.ts';

export type SoakService = Awaited<ReturnType<typeof startSoakService>>;

type Weighted = readonly (readonly [weight: number, reply: Reply])[];

/** Most faults are not retried, since the waits between attempts dominate the duration of a soak. */
const FAULTS: Weighted = [
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

/** A service that fails at random, in every way that is transient or cured by SIGHUP. */
export async function startSoakService(seed: number) {
  const random = createRandom(seed);
  // A separate random source: the timing of logins must not change the responses to polls.
  const loginRandom = createRandom(seed + 1);
  const service = await startService();
  const nextList = createSoakList(random);
  let [logins, turmoilLogins, isCalm] = [0, 0, false];

  const nextLoginFault = (): Reply =>
    LOGIN_FAULTS[(turmoilLogins / LOGINS_PER_FAULT - 1) % LOGIN_FAULTS.length] ?? reset();
  const logIn = (): Reply => {
    if (!isCalm) turmoilLogins += 1;
    const isFaulty = !isCalm && turmoilLogins % LOGINS_PER_FAULT === 0;
    const token = logins === 0 ? FIRST_TOKEN : `${FIRST_TOKEN}-${logins}`;
    logins += 1;
    return isFaulty ? nextLoginFault() : grant(token, loginRandom);
  };
  service.script('login', logIn);
  return {
    url: service.url,
    /** Chooses the response to the next poll. */
    nextPoll: (): void => {
      const met: Reply[] = [];
      while (met.length < 3 && random() < FAULTY_POLLS) met.push(draw(FAULTS, random));
      service.script('leagues', ...met, nextList());
    },
    /** Disables or enables faults of logins. */
    calm: (wanted: boolean): void => {
      isCalm = wanted;
    },
    logins: () => logins,
  };
}

function grant(token: string, random: Random): Reply {
  const lifeMs = random() < BORN_EXPIRED ? -1_000 : SHORTEST_LIFE_MS + random() * LIVES_MS;
  const expire_datetime = new Date(Date.now() + lifeMs).toISOString();
  return grantLogin({ access_token: token, expire_datetime });
}

function draw(weighted: Weighted, random: Random): Reply {
  const whole = weighted.reduce((sum, [weight]) => sum + weight, 0);
  let left = pickIndex(whole, random);
  for (const [weight, reply] of weighted) {
    left -= weight;
    if (left < 0) return reply;
  }
  return reset();
}
