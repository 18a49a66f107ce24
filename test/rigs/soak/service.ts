import type { ServerResponse } from 'node:http';
import { createRandom, pickIndex, type Random } from '../../../src/simulator/churn.ts';
import {
  cut,
  failed,
  granted,
  hang,
  json,
  leaguesAnswer,
  type Reply,
  reset,
  send,
  startScriptedService,
} from '../../support/scripted-service.ts';
import { createSoakList } from './list.ts';

/** A service that fails at random, in every way that is transient or cured by SIGHUP. */
export type SoakService = AsyncDisposable & {
  readonly url: string;
  /** Chooses the response to the next poll. */
  readonly nextPoll: () => void;
  /** Disables or enables faults of logins. */
  readonly calm: (isCalm: boolean) => void;
  readonly logins: () => number;
  /** The number of polls with a fault, and of faults. */
  readonly faults: () => number;
};

type Weighted = readonly (readonly [weight: number, reply: Reply])[];

/** Most faults are not retried, since the waits between attempts dominate the duration of a soak. */
const FAULTS: Weighted = [
  [3, failed(503)],
  [3, failed(503, { 'retry-after': '0' })],
  [1, failed(429, { 'retry-after': '1' })],
  [14, failed(401)],
  [2, cut(JSON.stringify({ leagues: 'x'.repeat(20_000) }))],
  [2, reset()],
  [1, hang()],
  [6, slowly(40, leaguesAnswer([]))],
  [8, { body: '<html>Welcome</html>', headers: { 'content-type': 'text/html' } }],
  [3, { status: 404, body: 'no such path' }],
  [4, json({ message: 'ok', leagues: 'none' })],
];
/** Sent in turn, not at random: a soak has too few logins for every fault to occur by chance. */
const LOGIN_FAULTS: readonly Reply[] = [
  failed(401),
  failed(503),
  failed(401),
  failed(503, { 'retry-after': '1' }),
  reset(),
  failed(401),
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

export async function startSoakService(seed: number): Promise<SoakService> {
  const random = createRandom(seed);
  // A separate random source: the timing of logins must not change the responses to polls.
  const loginRandom = createRandom(seed + 1);
  const service = await startScriptedService();
  const nextList = createSoakList(random);
  let [logins, turmoilLogins, faults, isCalm] = [0, 0, 0, false];

  const nextLoginFault = (): Reply =>
    LOGIN_FAULTS[(turmoilLogins / LOGINS_PER_FAULT - 1) % LOGIN_FAULTS.length] ?? reset();
  const logIn = (response: ServerResponse): void => {
    if (!isCalm) turmoilLogins += 1;
    const isFaulty = !isCalm && turmoilLogins % LOGINS_PER_FAULT === 0;
    const token = logins === 0 ? FIRST_TOKEN : `${FIRST_TOKEN}-${logins}`;
    logins += 1;
    send(response, isFaulty ? nextLoginFault() : grant(token, loginRandom));
  };
  service.script('login', logIn);
  return {
    url: service.url,
    nextPoll: () => {
      const met: Reply[] = [];
      while (met.length < 3 && random() < FAULTY_POLLS) met.push(draw(FAULTS, random));
      faults += met.length;
      service.script('leagues', ...met, nextList());
    },
    calm: (wanted) => {
      isCalm = wanted;
    },
    logins: () => logins,
    faults: () => faults,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

function grant(token: string, random: Random): Reply {
  const lifeMs = random() < BORN_EXPIRED ? -1_000 : SHORTEST_LIFE_MS + random() * LIVES_MS;
  const expire_datetime = new Date(Date.now() + lifeMs).toISOString();
  return granted({ access_token: token, refresh_token: `${token}-refresh`, expire_datetime });
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

function slowly(ms: number, reply: Reply): Reply {
  return (response) => {
    const timer = setTimeout(() => send(response, reply), ms);
    response.once('close', () => clearTimeout(timer));
  };
}
