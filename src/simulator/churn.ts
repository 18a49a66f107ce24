import { isObject, type JsonObject } from './endpoints.ts';

const REMOVAL_SHARE = 0.06;
const MAX_CHANGES = 3;
// A demo may run for weeks, so the list must not become empty.
const MAX_REMOVED = 5;

const SEASON_TYPES = ['preseason', 'regular', 'playoffs'];
const SPONSORED = ' presented by Example';

export type Random = () => number;

type ChurnState = {
  readonly listed: readonly unknown[];
  readonly removed: readonly unknown[];
};

export function startChurn(leagues: readonly unknown[]): ChurnState {
  return { listed: [...leagues], removed: [] };
}

/** Usually changes one to three leagues; sometimes removes one, or lists a removed one again. */
export function churn(state: ChurnState, random: Random, now: number): ChurnState {
  const { listed, removed } = state;
  // In the format of the bundled list: microseconds, and no time zone.
  const stamp = new Date(now).toISOString().replace('Z', '000');
  const roll = random();
  if (roll < REMOVAL_SHARE && removed.length < MAX_REMOVED) {
    const leaving = pickIndex(listed.length, random);
    const left = listed.slice(leaving, leaving + 1);
    return { listed: listed.toSpliced(leaving, 1), removed: [...removed, ...left] };
  }
  if (roll < 2 * REMOVAL_SHARE && removed.length > 0) {
    const [returning, ...rest] = removed;
    const league = isObject(returning) ? { ...returning, last_update_datetime: stamp } : returning;
    return { listed: [...listed, league], removed: rest };
  }
  const wanted = 1 + pickIndex(MAX_CHANGES, random);
  const chosen = new Set(Array.from({ length: wanted }, () => pickIndex(listed.length, random)));
  const change = (league: unknown, index: number) =>
    chosen.has(index) && isObject(league) ? changeLeague(league, random, stamp) : league;
  return { listed: listed.map(change), removed };
}

const leagueChanges: readonly ((league: JsonObject, random: Random) => JsonObject)[] = [
  ({ priority }, random) => {
    const current = typeof priority === 'number' ? priority : 0;
    const step = 1 + pickIndex(3, random);
    return { priority: current > step && random() < 0.5 ? current - step : current + step };
  },
  ({ league_name }) => {
    const name = String(league_name);
    return { league_name: name.endsWith(SPONSORED) ? name.slice(0, -SPONSORED.length) : name + SPONSORED };
  },
  ({ active_season_type }, random) => {
    const others = SEASON_TYPES.filter((type) => type !== active_season_type);
    return { active_season_type: others[pickIndex(others.length, random)] };
  },
  ({ status }) => ({ status: status === 'active' ? 'inactive' : 'active' }),
];

function changeLeague(league: JsonObject, random: Random, stamp: string): JsonObject {
  const change = leagueChanges[pickIndex(leagueChanges.length, random)];
  return { ...league, ...change?.(league, random), last_update_datetime: stamp };
}

/** A generator (mulberry32) that returns the same sequence for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer from 0 to `limit - 1`. */
export function pickIndex(limit: number, random: Random): number {
  return Math.floor(random() * limit);
}
