import { createHash } from 'node:crypto';
import { isObject, type JsonObject, type SimulatedResponse } from './endpoints.ts';

const WRONG_CLOCK_MS = 2 * 3_600_000;

export type Context = { readonly now: number; readonly ifNoneMatch: string | undefined };

/** Changes the responses that its fault concerns and returns others unchanged (see `descriptions` in faults.ts). */
export type Mutation = (answer: SimulatedResponse, context: Context) => SimulatedResponse;

// Keyed by the last digit of the index. At most half of a list becomes invalid, so that the list is still accepted.
const defects = new Map<number, (league: JsonObject) => unknown>([
  [1, ({ league_name: _, ...rest }) => rest],
  [4, (league) => ({ ...league, league_name: [league.league_name], priority: 'first' })],
  [7, () => 'not a league'],
]);

export const breakRows = mutateLeagues((league, index) => defects.get(index % 10)?.(league) ?? league);

export const duplicateSome = mutateList((leagues) => {
  const identical = leagues.filter((_, index) => index % 10 === 0);
  const conflicting = leagues.slice(1, 2).filter(isObject);
  const renamed = conflicting.map((league) => ({ ...league, league_name: `${league.league_name} (again)` }));
  return [...leagues, ...identical, ...renamed];
});

export const addEtag: Mutation = (answer, { ifNoneMatch }) => {
  if (!isObject(answer.body) || !Array.isArray(answer.body.leagues)) return answer;
  const etag = `"${createHash('sha1').update(JSON.stringify(answer.body.leagues)).digest('hex')}"`;
  const headers = { ...answer.headers, ETag: etag };
  return ifNoneMatch === etag ? { status: 304, headers } : { ...answer, headers };
};

export const setWrongClock: Mutation = (answer, context) => ({
  ...shiftTimes(answer, context),
  clockAheadMs: WRONG_CLOCK_MS,
});

const shiftTimes = mutateTimes(['expire_datetime', 'timestamp'], (time) => time + WRONG_CLOCK_MS);

export function deliver(delivery: NonNullable<SimulatedResponse['delivery']>): Mutation {
  return (answer) => ({ ...answer, delivery });
}

function mutateBody(change: (body: JsonObject, context: Context) => JsonObject): Mutation {
  return (answer, context) =>
    isObject(answer.body) ? { ...answer, body: { ...answer.body, ...change(answer.body, context) } } : answer;
}

export function mutateTimes(fields: readonly string[], change: (time: number, context: Context) => number): Mutation {
  return mutateBody((body, context) => {
    const times = Object.entries(body).filter(([field]) => fields.includes(field));
    const shift = (value: unknown) => new Date(change(Date.parse(String(value)), context)).toISOString();
    return Object.fromEntries(times.map(([field, value]) => [field, shift(value)]));
  });
}

export function mutateList(change: (leagues: readonly unknown[]) => readonly unknown[]): Mutation {
  return mutateBody(({ leagues }) => (Array.isArray(leagues) ? { leagues: change(leagues) } : {}));
}

export function mutateLeagues(change: (league: JsonObject, index: number) => unknown): Mutation {
  return mutateList((leagues) => leagues.map((league, index) => (isObject(league) ? change(league, index) : league)));
}
