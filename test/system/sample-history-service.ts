import { readFileSync } from 'node:fs';
import { describeNetworkError } from '../../src/http/network-error.ts';
import type { SendRequest } from '../../src/http/request.ts';
import type { Clock } from '../../src/time/clock.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The service behind the sample history. Each method changes its responses from then on. */
export type SampleService = ReturnType<typeof createSampleService>;

const TOKEN_LIFE_MS = 12 * 3_600_000;
/** The service's clock is ahead of ours by this much. */
const CLOCK_LEAD_MS = 1_200;
/** The number of leagues that are listed from the start: those with the highest priority. */
const LISTED = 40;

export function createSampleService(clock: Clock) {
  const bundled = readBundled();
  const listed = new Map([...bundled].slice(0, LISTED));
  const dropped = new Map<string, Fields>();
  const spoilt = new Map<string, Fields>();
  /** `breaks`: connections to break next; `delayMs`: of the next list. */
  const state = { down: false, refusing: false, breaks: 0, delayMs: undefined as number | undefined };
  let player: Fields = { player_id: 'p-1047', username: 'player', type: 'standard', verified: false };
  let requests = 0;

  const answer = (url: string): readonly [status: number, body: Fields] => {
    if (url.includes('/login'))
      return state.refusing
        ? [401, { result: 'fail', message: 'Invalid username or password' }]
        : [200, grant(clock, requests)];
    if (url.includes('/me')) return [200, { message: 'Profile retrieved', player, player_premium_items: [] }];
    if (state.down) return [503, { result: 'fail', message: 'Down for maintenance' }];
    const usual = [...listed].filter(([name]) => !spoilt.has(name)).map(([, league]) => league);
    return [200, { message: 'Leagues retrieved', leagues: [...usual, ...spoilt.values()], timestamp: null }];
  };
  const send: SendRequest = async ({ name, url }, signal) => {
    requests += 1;
    const isList = url.includes('/leagues/');
    await clock.sleep((isList ? state.delayMs : undefined) ?? 120 + ((requests * 37) % 160), signal);
    if (isList) state.delayMs = undefined;
    if (isList && state.breaks > 0) {
      state.breaks -= 1;
      const cause = Object.assign(new Error('broken'), { code: 'ECONNRESET' });
      throw describeNetworkError(cause, name);
    }
    const [status, body] = answer(url);
    const headers: Readonly<Record<string, string>> = { date: new Date(clock.now() + CLOCK_LEAD_MS).toUTCString() };
    const header = (name: string) => headers[name];
    return { status, via: '', header, body: Buffer.from(JSON.stringify(body)) };
  };
  return {
    send,
    state,
    /** Lists a league of the bundled list, with these fields instead of its own. */
    add: (name: string, fields: Fields = {}) => void listed.set(name, { ...bundled.get(name), ...fields }),
    /** Changes fields of listed leagues, and the time of their last update. */
    change: (fields: Fields, ...names: readonly string[]) => {
      const last_update_datetime = new Date(clock.now()).toISOString().replace('Z', '000');
      for (const name of names) listed.set(name, { ...find(listed, name), ...fields, last_update_datetime });
    },
    drop: (...names: readonly string[]) => {
      for (const name of names) {
        dropped.set(name, find(listed, name));
        listed.delete(name);
      }
    },
    /** Lists a removed league again, unchanged. */
    restore: (name: string) => void listed.set(name, find(dropped, name)),
    /** Sends an element that cannot be stored instead of the league, or besides the others; without one no longer. */
    spoil: (name: string, element?: Fields) => {
      if (element === undefined) spoilt.delete(name);
      else spoilt.set(name, { ...listed.get(name), ...element });
    },
    changePlayer: (fields: Fields) => {
      player = { ...player, ...fields };
    },
  };
}

function grant(clock: Clock, number: number): Fields {
  return {
    result: 'success',
    message: 'Logged in',
    player_id: 'p-1047',
    access_token: `access-token-${number}`,
    refresh_token: `refresh-token-${number}`,
    expire_datetime: new Date(clock.now() + CLOCK_LEAD_MS + TOKEN_LIFE_MS).toISOString(),
  };
}

function find(leagues: ReadonlyMap<string, Fields>, name: string): Fields {
  const league = leagues.get(name);
  if (league === undefined) throw new Error(`The sample service has no league ${name} there.`);
  return league;
}

/** The simulated service's list, by name. */
function readBundled(): ReadonlyMap<string, Fields> {
  const { leagues } = JSON.parse(readFileSync('src/simulator/leagues.json', 'utf8')) as { leagues: readonly Fields[] };
  return new Map(leagues.map((league) => [String(league.league_name), league]));
}
