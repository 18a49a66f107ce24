import { readFileSync } from 'node:fs';
import { describeNetworkError } from '../../src/http/network-error.ts';
import type { ServiceRequest, Transport } from '../../src/service/transport.ts';
import type { Clock } from '../../src/time/clock.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The service behind the sample history. Each method changes its responses from then on. */
export type SampleService = {
  readonly transport: Transport;
  /** Lists a league of the bundled list, with these fields instead of its own. */
  readonly add: (name: string, fields?: Fields) => void;
  /** Changes fields of listed leagues, and the time of their last update. */
  readonly change: (fields: Fields, ...names: readonly string[]) => void;
  readonly drop: (...names: readonly string[]) => void;
  /** Lists removed leagues again, unchanged. */
  readonly restore: (...names: readonly string[]) => void;
  /**
   * Sends an element that cannot be stored instead of the league, or besides the others; without `element` no longer.
   */
  readonly spoil: (name: string, element?: Fields) => void;
  readonly changePlayer: (fields: Fields) => void;
  readonly state: ServiceState;
};

/** The current faults of the service. */
type ServiceState = {
  /** The leagues are answered with 503. */
  down: boolean;
  /** Logins are answered with 401. */
  refusing: boolean;
  /** The number of connections to break next. */
  breaks: number;
  /** The delay of the next list. */
  delayMs: number | undefined;
};

const TOKEN_LIFE_MS = 12 * 3_600_000;
/** The service's clock is ahead of ours by this much. */
const CLOCK_LEAD_MS = 1_200;
/** The number of leagues that are listed from the start: those with the highest priority. */
const LISTED = 40;

export function createSampleService(clock: Clock): SampleService {
  const bundled = readBundled();
  const listed = new Map([...bundled].slice(0, LISTED));
  const dropped = new Map<string, Fields>();
  const spoilt = new Map<string, Fields>();
  const state: ServiceState = { down: false, refusing: false, breaks: 0, delayMs: undefined };
  let player: Fields = { player_id: 'p-1047', username: 'player', type: 'standard', verified: false };
  let requests = 0;

  const answer = ({ path }: ServiceRequest): Answer => {
    if (path.includes('/login')) return state.refusing ? refusal() : grant(clock, requests);
    if (path.includes('/me')) return ok({ message: 'Profile retrieved', player, player_premium_items: [] });
    if (state.down) return { status: 503, body: { result: 'fail', message: 'Down for maintenance' } };
    const usual = [...listed].filter(([name]) => !spoilt.has(name)).map(([, league]) => league);
    return ok({ message: 'Leagues retrieved', leagues: [...usual, ...spoilt.values()], timestamp: null });
  };
  const send = async (request: ServiceRequest, signal: AbortSignal) => {
    requests += 1;
    const isList = request.path.includes('/leagues/');
    await clock.sleep((isList ? state.delayMs : undefined) ?? 120 + ((requests * 37) % 160), signal);
    if (isList) state.delayMs = undefined;
    if (isList && state.breaks > 0) {
      state.breaks -= 1;
      const cause = Object.assign(new Error('broken'), { code: 'ECONNRESET' });
      throw describeNetworkError(cause, `${request.method} ${request.path}`);
    }
    const { status, body } = answer(request);
    const headers: Readonly<Record<string, string>> = { date: new Date(clock.now() + CLOCK_LEAD_MS).toUTCString() };
    return {
      url: request.path,
      status,
      via: '',
      header: (name: string) => headers[name],
      body: Buffer.from(JSON.stringify(body)),
    };
  };
  return {
    transport: send,
    add: (name, fields = {}) => listed.set(name, { ...bundled.get(name), ...fields }),
    change: (fields, ...names) => {
      const last_update_datetime = new Date(clock.now()).toISOString().replace('Z', '000');
      for (const name of names) listed.set(name, { ...find(listed, name), ...fields, last_update_datetime });
    },
    drop: (...names) => {
      for (const name of names) {
        dropped.set(name, find(listed, name));
        listed.delete(name);
      }
    },
    restore: (...names) => {
      for (const name of names) listed.set(name, find(dropped, name));
    },
    spoil: (name, element) => {
      if (element === undefined) spoilt.delete(name);
      else spoilt.set(name, { ...listed.get(name), ...element });
    },
    changePlayer: (fields) => {
      player = { ...player, ...fields };
    },
    state,
  };
}

type Answer = { readonly status: number; readonly body: Fields };

function ok(body: Fields): Answer {
  return { status: 200, body };
}

function refusal(): Answer {
  return { status: 401, body: { result: 'fail', message: 'Invalid username or password' } };
}

function grant(clock: Clock, number: number): Answer {
  return ok({
    result: 'success',
    message: 'Logged in',
    player_id: 'p-1047',
    access_token: `access-token-${number}`,
    refresh_token: `refresh-token-${number}`,
    expire_datetime: new Date(clock.now() + CLOCK_LEAD_MS + TOKEN_LIFE_MS).toISOString(),
  });
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
