import type { Listing } from '../bench/year/service.ts';
import { createRandom, pickIndex, type Random } from '../src/simulator/churn.ts';
import bundled from '../src/simulator/leagues.json' with { type: 'json' };

// A year of the sample leagues as a service would have it, for pictures: seasons begin and end, people at desks change
// a few fields on working days and many at once now and then, leagues are added, and some leave and come back.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SEED = 77;

type League = Readonly<Record<string, unknown>>;
type Leagues = Map<string, League>;
/** What changes at an instant. */
type Event = { readonly at: number; readonly apply: (leagues: Leagues) => void };

/** The days of the year on which seasons begin and end; other sports have theirs at any time. */
const SEASONS: Readonly<Record<string, readonly [begin: number, end: number]>> = {
  soccer: [222, 145],
  football: [248, 39],
  basketball: [293, 160],
  baseball: [85, 303],
  hockey: [281, 166],
  'rugby union': [261, 170],
  cricket: [95, 270],
  motorsport: [72, 340],
  golf: [10, 330],
  lacrosse: [150, 260],
};
/** The shares of Sunday to Saturday in which people work on the service's list. */
const WORKED = [0.06, 0.8, 1, 1, 0.9, 0.6, 0.12];
/** From the first of these days of the year on, or up to the second, nobody does. */
const HOLIDAYS = [356, 3] as const;
/** The share of working days on which something is changed, and of those the share on which it is many leagues. */
const BUSY_SHARE = 0.62;
const MANY_SHARE = 0.04;
const LATE_LEAGUES = 11;
/** The most important leagues are always listed. */
const FEW = 20;

/** The list at each instant between these (ms), the same whenever it is called with the same ones. */
export function createSeasons(beginsAt: number, endsAt: number): Listing {
  const random = createRandom(SEED);
  const all = bundled.leagues as readonly League[];
  const late = Array.from({ length: LATE_LEAGUES }, () => all[FEW + pickIndex(all.length - FEW, random)]);
  const listed = all.filter((league) => !late.includes(league));
  const leagues: Leagues = new Map(listed.map((league) => [idOf(league), league]));
  const days = Array.from({ length: Math.ceil((endsAt - beginsAt) / DAY_MS) }, (_, day) => beginsAt + day * DAY_MS);
  const events = [
    ...all.flatMap((league) => planSeason(league, days, random)),
    ...days.slice(1).flatMap((day) => planDesk(day, random)),
    ...late.map((league) => planArrival(league, days, random)),
    ...late.flatMap(() => planAbsence(listed[FEW + pickIndex(listed.length - FEW, random)], days, random)),
  ].toSorted((one, other) => one.at - other.at);
  let version = 0;
  return (now) => {
    for (let next = events[version]; next !== undefined && next.at <= now; next = events[version]) {
      next.apply(leagues);
      version += 1;
    }
    return { version, leagues: [...leagues.values()] };
  };
}

/** A season is prepared, begins, comes to its playoffs and ends. */
function planSeason(league: League, days: readonly number[], random: Random): readonly Event[] {
  const [begin, end] = SEASONS[String(league.sport)] ?? [pickIndex(365, random), pickIndex(365, random)];
  const shift = pickIndex(21, random) - 10;
  const steps: readonly (readonly [dayOfYear: number, fields: League])[] = [
    [begin - 24, { status: 'active', active_season_type: 'preseason' }],
    [begin, { active_season_type: 'regular' }],
    [end - 28, { active_season_type: 'playoffs' }],
    [end, { status: 'inactive' }],
  ];
  return steps.flatMap(([dayOfYear, fields]) => {
    const day = days.find((one) => dayOf(one) === (dayOfYear + shift + 365) % 365);
    if (day === undefined) return [];
    const at = officeHour(day, random);
    return [{ at, apply: (leagues) => change(leagues, idOf(league), fields, at) }];
  });
}

/** What people at desks change on a day: often nothing, mostly a few leagues, now and then many. */
function planDesk(day: number, random: Random): readonly Event[] {
  const share = isHoliday(day) ? 0 : (WORKED[new Date(day).getUTCDay()] ?? 0);
  if (random() > BUSY_SHARE * share) return [];
  const count = random() < MANY_SHARE ? 9 + pickIndex(14, random) : 1 + pickIndex(4, random);
  return Array.from({ length: count }, () => {
    const at = officeHour(day, random);
    return { at, apply: (leagues) => edit(leagues, random, at) };
  });
}

function planArrival(league: League | undefined, days: readonly number[], random: Random): Event {
  const at = officeHour(days[pickIndex(days.length, random)] ?? 0, random);
  return { at, apply: (leagues) => void leagues.set(idOf(league), { ...league }) };
}

/** A league leaves the list, and is back some weeks later. */
function planAbsence(league: League | undefined, days: readonly number[], random: Random): readonly Event[] {
  const id = idOf(league);
  const leaves = pickIndex(days.length - 60, random);
  const returns = leaves + 10 + pickIndex(40, random);
  let gone: League | undefined;
  const leave = (leagues: Leagues): void => {
    gone = leagues.get(id);
    leagues.delete(id);
  };
  const comeBack = (leagues: Leagues): void => {
    if (gone !== undefined) leagues.set(id, gone);
  };
  return [
    { at: officeHour(days[leaves] ?? 0, random), apply: leave },
    { at: officeHour(days[returns] ?? 0, random), apply: comeBack },
  ];
}

/** Changes what somebody may change about any league. */
function edit(leagues: Leagues, random: Random, at: number): void {
  const id = [...leagues.keys()][pickIndex(leagues.size, random)] ?? '';
  const { priority, rankings } = leagues.get(id) ?? {};
  const moved = Math.max(1, Number(priority) + pickIndex(9, random) - 4);
  change(leagues, id, random() < 0.8 ? { priority: moved } : { rankings: rankings !== true }, at);
}

function change(leagues: Leagues, id: string, fields: League, at: number): void {
  const league = leagues.get(id);
  if (league === undefined || Object.entries(fields).every(([name, value]) => league[name] === value)) return;
  leagues.set(id, { ...league, ...fields, last_update_datetime: new Date(at).toISOString().replace('Z', '000') });
}

function idOf(league: League | undefined): string {
  return String(league?.league_id);
}

/** The day of the year, from 0. */
function dayOf(instant: number): number {
  return Math.floor((instant - Date.UTC(new Date(instant).getUTCFullYear(), 0)) / DAY_MS) % 365;
}

function isHoliday(instant: number): boolean {
  const day = dayOf(instant);
  return day >= HOLIDAYS[0] || day < HOLIDAYS[1];
}

/** A time between 8 and 18 o'clock on that day, or the Monday after it. */
function officeHour(day: number, random: Random): number {
  const midnight = day - (day % DAY_MS);
  const weekday = new Date(midnight).getUTCDay();
  const worked = midnight + (weekday === 6 ? 2 : weekday === 0 ? 1 : 0) * DAY_MS;
  return Math.round(worked + (8 + 10 * random()) * HOUR_MS);
}
