import fc from 'fast-check';
import type { Scope } from '../../src/config/config.ts';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../src/league/json.ts';
import { type LeagueList, parseLeagues } from '../../src/service/parse-leagues.ts';
import { makeLeague } from './leagues.ts';

/** Enough to find relevant orders and edge cases, few enough for every save. */
export const RUNS = { numRuns: 200 };

/** Parses a list. */
export function parseElements(elements: readonly JsonValue[], scope: Scope = 'all'): Promise<LeagueList> {
  return parseAnswer(JSON.stringify({ message: 'ok', leagues: elements }), scope);
}

/** Parses a leagues answer as it comes from the service. */
export function parseAnswer(json: string, scope: Scope = 'all'): Promise<LeagueList> {
  return parseLeagues(bodyOf(json), scope);
}

export function bodyOf(json: string): JsonObject {
  const body = parseJson(json);
  if (!isObject(body)) throw new Error('The answer of a test is no object.');
  return body;
}

/** The same JSON with the members of every object in the opposite order. */
export function reverseKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reverseKeys(member)]),
  );
}

const text = fc.string({ unit: 'grapheme', maxLength: 3 });
const json = fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>;

/** Fields of an element that may differ from one poll to the next; few values, so that some stay as they are. */
const elementFields = fc.record({
  league_name: text,
  priority: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  status: fc.constantFrom('active', 'inactive'),
  default_markets: fc.option(json),
  rankings: fc.constantFrom(true, false, null),
  city: fc.option(text),
  last_update_datetime: fc.oneof(fc.constant(null), text, fc.integer()),
  unforeseen: json,
});

/** A list of leagues with different ids out of a small set, so that two lists share some of them. */
export const elementList: fc.Arbitrary<readonly JsonObject[]> = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), elementFields), { selector: ([id]) => id })
  .map((elements) => elements.map(([league_id, fields]) => makeLeague(league_id, fields)));
