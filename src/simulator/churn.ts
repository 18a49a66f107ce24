import { isObject, type JsonObject } from './endpoints.ts';

const REMOVAL_SHARE = 0.06;
const RETURN_SHARE = 0.06;
const ADDITION_SHARE = 0.04;
const MAX_CHANGES = 3;
// A demo may run for weeks, so the list must neither become empty nor grow without limit.
const MAX_REMOVED = 5;
const MAX_INVENTED = 50;

const SEASON_TYPES = ['preseason', 'regular', 'playoffs'];
const SPONSORED = ' presented by Example';

export type Random = () => number;

type ChurnState = {
  readonly listed: readonly unknown[];
  readonly removed: readonly unknown[];
  /** The number of leagues added so far. */
  readonly invented: number;
};

export function startChurn(leagues: readonly unknown[]): ChurnState {
  return { listed: [...leagues], removed: [], invented: 0 };
}

/** Usually changes one to three leagues; sometimes removes, restores or adds one league. */
export function churn(state: ChurnState, random: Random, now: number): ChurnState {
  const { listed, removed, invented } = state;
  const stamp = formatStamp(now, random);
  const roll = random();
  if (roll < REMOVAL_SHARE && removed.length < MAX_REMOVED) {
    const leaving = pickIndex(listed.length, random);
    const left = listed.slice(leaving, leaving + 1);
    return { ...state, listed: listed.toSpliced(leaving, 1), removed: [...removed, ...left] };
  }
  if (roll < REMOVAL_SHARE + RETURN_SHARE && removed.length > 0) {
    const [returning, ...rest] = removed;
    const league = isObject(returning) ? { ...returning, last_update_datetime: stamp } : returning;
    return { ...state, listed: [...listed, league], removed: rest };
  }
  if (roll > 1 - ADDITION_SHARE && invented < MAX_INVENTED) {
    return { ...state, listed: [...listed, inventLeague(state, random, stamp)], invented: invented + 1 };
  }
  const wanted = 1 + pickIndex(MAX_CHANGES, random);
  const chosen = new Set(Array.from({ length: wanted }, () => pickIndex(listed.length, random)));
  const change = (league: unknown, index: number) =>
    chosen.has(index) && isObject(league) ? changeLeague(league, random, stamp) : league;
  return { ...state, listed: listed.map(change) };
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

function inventLeague({ listed, invented }: ChurnState, random: Random, stamp: string): JsonObject {
  const model = listed[pickIndex(listed.length, random)];
  const number = String(invented + 1);
  return {
    ...(isObject(model) ? model : {}),
    league_id: `5eed0000-0000-4000-8000-${number.padStart(12, '0')}`,
    league_name: `Invented League ${number}`,
    create_datetime: stamp,
    last_update_datetime: stamp,
  };
}

/** A timestamp in the format of the bundled list, such as `2026-10-12T01:39:28.305503`. */
function formatStamp(now: number, random: Random): string {
  const micros = String(pickIndex(1_000, random)).padStart(3, '0');
  return new Date(now).toISOString().replace('Z', micros);
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

export function shuffleItems<Item>(items: readonly Item[], random: Random): Item[] {
  const ranked = items.map((item) => ({ item, rank: random() }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ item }) => item);
}
