import { createHash } from 'node:crypto';
import type { Answer, Endpoint } from './answer.ts';
import { isObject, type JsonObject } from './json.ts';
import type { ListChange } from './league-fault.ts';
import type { Random } from './random.ts';

const WRONG_CLOCK_MS = 2 * 3_600_000;
const EXPIRED_AGO_MS = 60_000;

export type AlterationContext = {
  readonly endpoint: Endpoint;
  readonly now: number;
  readonly random: Random;
  /** The version of the answer that the client has already. */
  readonly ifNoneMatch: string | undefined;
};

/** Changes an answer on its way out; one that it does not concern passes as it is. */
export type Alteration = (answer: Answer, context: AlterationContext) => Answer;

/** Changes the list of leagues in every answer that has one. */
export function alterList(change: ListChange): Alteration {
  return (answer, { random }) =>
    mapBody(answer, (body) =>
      Array.isArray(body.leagues) ? { ...body, leagues: change(body.leagues, random) } : body,
    );
}

/** Tells a login that its token expired a minute ago. */
export const tellExpired: Alteration = (answer, { now }) =>
  mapBody(answer, (body) =>
    'expire_datetime' in body ? { ...body, expire_datetime: new Date(now - EXPIRED_AGO_MS).toISOString() } : body,
  );

/** Names the version of a list, and sends no list to a client that has this version. */
export const tagList: Alteration = (answer, { ifNoneMatch }) => {
  if (!isObject(answer.body) || !Array.isArray(answer.body.leagues)) return answer;
  const etag = `"${createHash('sha1').update(JSON.stringify(answer.body.leagues)).digest('hex')}"`;
  const headers = { ...answer.headers, ETag: etag };
  return ifNoneMatch === etag ? { status: 304, headers } : { ...answer, headers };
};

/** Tells every instant, in body and headers, as a clock that is two hours ahead shows it. */
export const tellWrongTime: Alteration = (answer) => ({
  ...mapBody(answer, shiftInstants),
  clockAheadMs: WRONG_CLOCK_MS,
});

function mapBody(answer: Answer, change: (body: JsonObject) => JsonObject): Answer {
  return isObject(answer.body) ? { ...answer, body: change(answer.body) } : answer;
}

function shiftInstants(body: JsonObject): JsonObject {
  const shifted = ['expire_datetime', 'timestamp'].flatMap((field) => {
    const told = body[field];
    return typeof told === 'string' ? [[field, new Date(Date.parse(told) + WRONG_CLOCK_MS).toISOString()]] : [];
  });
  return { ...body, ...Object.fromEntries(shifted) };
}
