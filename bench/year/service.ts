import { createHash } from 'node:crypto';
import { TransportError } from '../../src/errors.ts';
import type { SendRequest } from '../../src/http/request.ts';
import { churn, createRandom, type Random, startChurn } from '../../src/simulator/churn.ts';
import bundled from '../../src/simulator/leagues.json' with { type: 'json' };
import type { HandClock } from './clock.ts';

// A service that answers from memory, without a network, whose cost must not affect the figures. It depends only on the
// simulated time and a seed, so every year is the same.

const SEED = 525_600;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TOKEN_LIFE_MS = HOUR_MS;
const PLAYER_ID = '5eed0000-0000-4000-8000-000000000001';
const ANSWER_MS = 80;
/** One to three leagues change, or one comes or goes, about five times a day. */
const CHANGE_EVERY_MS = 5 * HOUR_MS;
/** A request now and then fails and is retried. */
const HICCUP_SHARE = 0.002;

/** Temporary faults: how often they begin, and how long they last. */
const TROUBLES = {
  outage: { everyMs: 14 * DAY_MS, lastsMs: 40 * MINUTE_MS },
  'bad element': { everyMs: 10 * DAY_MS, lastsMs: 6 * HOUR_MS },
  'part of the list': { everyMs: 60 * DAY_MS, lastsMs: 3 * HOUR_MS },
  'new field': { everyMs: 120 * DAY_MS, lastsMs: DAY_MS },
} as const;

/** The faults that affect the list itself. */
const LISTED_TROUBLES = ['bad element', 'part of the list', 'new field'] as const;

type Trouble = keyof typeof TROUBLES;
type IsOn = (trouble: Trouble) => boolean;
type List = { readonly body: string; readonly etag: string };

/** The leagues at an instant (ms), which never goes back. Whenever they change, so does their version. */
export type Listing = (now: number) => { readonly version: number; readonly leagues: readonly unknown[] };

export type ServiceOptions = {
  /** Whether lists have an ETag, and the answer is 304 if the client has the current one. */
  readonly conditional: boolean;
  /** By default, the sample leagues, a few of which change every five hours. */
  readonly listing?: Listing | undefined;
  /** Faults that it does not have. */
  readonly without?: readonly Trouble[];
};

/** Answers logins, profiles and lists; the clock moves on by what an answer takes. */
export function createYearService(
  clock: HandClock,
  { conditional, listing, without = [] }: ServiceOptions,
): SendRequest {
  const beganAt = clock.now();
  const random = createRandom(SEED);
  const leaguesAt = listing ?? createChurn(beganAt, random);
  let version = '';
  let list: List = { body: '', etag: '' };
  const isOn: IsOn = (trouble) => {
    const { everyMs, lastsMs } = TROUBLES[trouble];
    const sinceBeginning = clock.now() - beganAt;
    return !without.includes(trouble) && sinceBeginning > everyMs && sinceBeginning % everyMs < lastsMs;
  };
  const present = (): List => {
    const { version: changes, leagues } = leaguesAt(clock.now());
    const now = `${changes} ${LISTED_TROUBLES.map(isOn)}`;
    if (now !== version) list = write(alter(leagues, isOn));
    version = now;
    return list;
  };
  return async ({ method, url, name, headers = {} }) => {
    clock.advance(ANSWER_MS);
    if (random() < HICCUP_SHARE) throw new TransportError('network', true, `${name} was reset.`);
    if (isOn('outage')) return answer(503, { result: 'fail', message: 'Down for maintenance' });
    if (method === 'POST') return answer(200, grant(clock.now()), clock.now());
    if (url.includes('/players/')) return answer(200, PROFILE);
    const { body, etag } = present();
    if (!conditional) return answer(200, body);
    return headers['if-none-match'] === etag ? answer(304, '', undefined, etag) : answer(200, body, undefined, etag);
  };
}

function createChurn(beganAt: number, random: Random): Listing {
  let state = startChurn(bundled.leagues);
  let changes = 0;
  return (now) => {
    for (; changes * CHANGE_EVERY_MS < now - beganAt; changes += 1) state = churn(state, random, now);
    return { version: changes, leagues: state.listed };
  };
}

function alter(leagues: readonly unknown[], isOn: IsOn): readonly unknown[] {
  const sent = isOn('part of the list') ? leagues.slice(0, leagues.length / 2) : leagues;
  return sent.map((league, index) => ({
    ...(league as object),
    ...(isOn('new field') ? { nickname: `League ${index}` } : {}),
    ...(isOn('bad element') && index === 0 ? { league_name: null } : {}),
  }));
}

function write(leagues: readonly unknown[]): List {
  const body = JSON.stringify({ result: 'success', message: 'Leagues retrieved', leagues });
  return { body, etag: `"${createHash('sha1').update(body).digest('hex')}"` };
}

function grant(now: number) {
  const token = createHash('sha256').update(String(now)).digest('hex');
  return {
    result: 'success',
    message: 'Logged in',
    player_id: PLAYER_ID,
    access_token: token,
    refresh_token: `refresh-${token}`,
    expire_datetime: new Date(now + TOKEN_LIFE_MS).toISOString(),
  };
}

const PROFILE = {
  result: 'success',
  message: 'Player retrieved',
  player: { player_id: PLAYER_ID, username: 'player', email: 'player@example.com', type: 'player', verified: true },
  player_premium_items: [],
};

function answer(status: number, content: string | object, date?: number, etag?: string) {
  const headers: Readonly<Record<string, string | undefined>> = {
    date: date === undefined ? undefined : new Date(date).toUTCString(),
    etag,
  };
  const body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  return { url: 'https://api.example.com', status, body, header: (name: string) => headers[name], via: '' };
}
