import { createHash } from 'node:crypto';
import { type Random, shuffleItems } from './churn.ts';
import { type Answer, isObject, type JsonObject } from './endpoints.ts';

const WRONG_CLOCK_MS = 2 * 3_600_000;
const EXPIRED_AGO_MS = 60_000;

export type Context = {
  readonly now: number;
  readonly random: Random;
  /** The version of the list that the client has already. */
  readonly ifNoneMatch: string | undefined;
};

/** Changes a response on its way out; one that it does not concern passes as it is. The table of faults says how. */
export type Mutation = (answer: Answer, context: Context) => Answer;

export const emptyList = mutateList(() => []);

export const dropThird = mutateList((leagues) => leagues.filter((_, index) => index % 3 !== 2));

// Three in ten: some of each kind even in a short list, and never more than half of it.
const breakages = new Map<number, (league: JsonObject) => unknown>([
  [1, ({ league_name: _, ...rest }) => rest],
  [4, (league) => ({ ...league, league_name: [league.league_name], priority: 'first' })],
  [7, () => 'not a league'],
]);

export const breakRows = mutateLeagues((league, index) => breakages.get(index % 10)?.(league) ?? league);

export const addField = mutateLeagues((league) => ({ ...league, broadcast_partner: 'Example TV' }));

export const duplicateSome = mutateList((leagues) => {
  const identical = leagues.filter((_, index) => index % 10 === 0);
  const conflicting = leagues.slice(1, 2).filter(isObject);
  const renamed = conflicting.map((league) => ({ ...league, league_name: `${league.league_name} (again)` }));
  return [...leagues, ...identical, ...renamed];
});

export const shuffleLeagues = mutateList((leagues, random) =>
  shuffleItems(leagues, random).map((league) =>
    isObject(league) ? Object.fromEntries(shuffleItems(Object.entries(league), random)) : league,
  ),
);

export const tagList: Mutation = (answer, { ifNoneMatch }) => {
  if (!isObject(answer.body) || !Array.isArray(answer.body.leagues)) return answer;
  const etag = `"${createHash('sha1').update(JSON.stringify(answer.body.leagues)).digest('hex')}"`;
  const headers = { ...answer.headers, ETag: etag };
  return ifNoneMatch === etag ? { status: 304, headers } : { ...answer, headers };
};

export const tellExpired = mutateTimes(['expire_datetime'], (_, { now }) => now - EXPIRED_AGO_MS);

export const tellWrongTime: Mutation = (answer, context) => ({
  ...shiftTimes(answer, context),
  clockAheadMs: WRONG_CLOCK_MS,
});

const shiftTimes = mutateTimes(['expire_datetime', 'timestamp'], (told) => told + WRONG_CLOCK_MS);

function mutateBody(change: (body: JsonObject, context: Context) => JsonObject): Mutation {
  return (answer, context) =>
    isObject(answer.body) ? { ...answer, body: { ...answer.body, ...change(answer.body, context) } } : answer;
}

function mutateTimes(fields: readonly string[], change: (told: number, context: Context) => number): Mutation {
  return mutateBody((body, context) => {
    const told = Object.entries(body).filter(([field]) => fields.includes(field));
    const toldAs = (value: unknown) => new Date(change(Date.parse(String(value)), context)).toISOString();
    return Object.fromEntries(told.map(([field, value]) => [field, toldAs(value)]));
  });
}

function mutateList(change: (leagues: readonly unknown[], random: Random) => readonly unknown[]): Mutation {
  return mutateBody(({ leagues }, { random }) => (Array.isArray(leagues) ? { leagues: change(leagues, random) } : {}));
}

/** Changes each league that is an object. */
function mutateLeagues(change: (league: JsonObject, index: number) => unknown): Mutation {
  return mutateList((leagues) => leagues.map((league, index) => (isObject(league) ? change(league, index) : league)));
}
