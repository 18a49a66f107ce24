import { isObject, type JsonObject } from './json.ts';
import { pickIndex, type Random } from './random.ts';

const REMOVAL_SHARE = 0.06;
const RETURN_SHARE = 0.06;
const ADDITION_SHARE = 0.04;
const MOST_CHANGES = 3;
// A demo may be left running for weeks: its list neither runs dry nor grows for ever.
const MOST_REMOVED = 5;
const MOST_INVENTED = 50;

const SEASON_TYPES = ['preseason', 'regular', 'playoffs'];
const SPONSORED = ' presented by Example';

/** Leagues that change over time: those listed, those that have left for now, and how many were made up. */
type ChurnState = {
  readonly listed: readonly unknown[];
  readonly removed: readonly unknown[];
  readonly invented: number;
};

/** The state that churn starts from. */
export function startChurn(leagues: readonly unknown[]): ChurnState {
  return { listed: [...leagues], removed: [], invented: 0 };
}

/**
 * The state one step later. Mostly one to three leagues change; now and then one leaves, comes back or is new.
 * `now` is in milliseconds since the epoch.
 */
export function churn(state: ChurnState, random: Random, now: number): ChurnState {
  const stamp = formatStamp(now, random);
  const roll = random();
  if (roll < REMOVAL_SHARE && state.removed.length < MOST_REMOVED) return removeOne(state, random);
  if (roll < REMOVAL_SHARE + RETURN_SHARE && state.removed.length > 0) return bringBack(state, stamp);
  if (roll > 1 - ADDITION_SHARE && state.invented < MOST_INVENTED) return inventOne(state, random, stamp);
  return changeSome(state, random, stamp);
}

function changeSome(state: ChurnState, random: Random, stamp: string): ChurnState {
  const wanted = 1 + pickIndex(MOST_CHANGES, random);
  const chosen = new Set(Array.from({ length: wanted }, () => pickIndex(state.listed.length, random)));
  const listed = state.listed.map((league, index) =>
    chosen.has(index) && isObject(league) ? changeLeague(league, random, stamp) : league,
  );
  return { ...state, listed };
}

function changeLeague(league: JsonObject, random: Random, stamp: string): JsonObject {
  const changes = [changePriority, changeName, changeSeason, changeStatus];
  const change = changes[pickIndex(changes.length, random)] ?? changePriority;
  return { ...league, ...change(league, random), last_update_datetime: stamp };
}

function changePriority({ priority }: JsonObject, random: Random): JsonObject {
  const current = typeof priority === 'number' ? priority : 0;
  const step = 1 + pickIndex(3, random);
  return { priority: current > step && random() < 0.5 ? current - step : current + step };
}

function changeName({ league_name }: JsonObject): JsonObject {
  const name = String(league_name);
  return { league_name: name.endsWith(SPONSORED) ? name.slice(0, -SPONSORED.length) : name + SPONSORED };
}

function changeSeason({ active_season_type }: JsonObject, random: Random): JsonObject {
  const others = SEASON_TYPES.filter((type) => type !== active_season_type);
  return { active_season_type: others[pickIndex(others.length, random)] };
}

function changeStatus({ status }: JsonObject): JsonObject {
  return { status: status === 'active' ? 'inactive' : 'active' };
}

function removeOne(state: ChurnState, random: Random): ChurnState {
  const leaving = pickIndex(state.listed.length, random);
  return {
    ...state,
    listed: state.listed.toSpliced(leaving, 1),
    removed: [...state.removed, ...state.listed.slice(leaving, leaving + 1)],
  };
}

function bringBack(state: ChurnState, stamp: string): ChurnState {
  const [returning, ...removed] = state.removed;
  const league = isObject(returning) ? { ...returning, last_update_datetime: stamp } : returning;
  return { ...state, listed: [...state.listed, league], removed };
}

function inventOne(state: ChurnState, random: Random, stamp: string): ChurnState {
  const number = state.invented + 1;
  const suffix = pickIndex(2 ** 32, random)
    .toString(16)
    .padStart(8, '0');
  const league = {
    league_id: `5eed0000-0000-4000-8000-${String(number).padStart(4, '0')}${suffix}`,
    league_name: `Invented League ${number}`,
    sport: 'basketball',
    league_image: `https://images.example.com/leagues/invented-${suffix}.png`,
    priority: state.listed.length + 1,
    status: 'active',
    active_season_type: 'regular',
    active_year: stamp.slice(0, 4),
    external_id: `sr:${suffix}`,
    default_markets: [],
    default_tournaments: false,
    rankings: false,
    create_datetime: stamp,
    last_update_datetime: stamp,
  };
  return { ...state, listed: [...state.listed, league], invented: number };
}

/** The list's own format, with microseconds and no zone: `2026-10-12T01:39:28.305503`. */
function formatStamp(now: number, random: Random): string {
  const micros = String(pickIndex(1_000, random)).padStart(3, '0');
  return new Date(now).toISOString().replace('Z', micros);
}
