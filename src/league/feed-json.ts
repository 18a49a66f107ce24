import { hash } from 'node:crypto';
import { canonicalJson, isDeeperThan, type JsonObject, type JsonValue, MAX_DEPTH, parseJson } from './json.ts';
import {
  type Field,
  type FieldType,
  type FieldValue,
  type JsonText,
  LEAGUE_FIELDS,
  LEAGUE_MEMBERS,
  LEAGUE_STATUSES,
  type League,
} from './response-schemas.ts';

/** A whole league, as in `after` of the change feed, and in `before` when a league is removed. */
export function leagueJson(league: League): JsonText {
  return membersJson(LEAGUE_MEMBERS, league);
}

/** The old values of the members that differ, as a JSON object; `{}` if no member differs. */
export function changedMembersJson(before: League, after: League): JsonText {
  const changed = LEAGUE_MEMBERS.filter((field) => !isSameValue(field, before[field.name], after[field.name]));
  return membersJson(changed, Object.fromEntries(changed.map(({ name }) => [name, before[name]])));
}

/** All `values`, of the types in `fields`, as a JSON object: JSON is not quoted again, and no digit is lost. */
export function membersJson(fields: readonly Field[], values: Readonly<Record<string, FieldValue>>): JsonText {
  // Copying all members takes two thirds of the time of adding them one by one; a first poll copies every league.
  const members: Record<string, unknown> = { ...values };
  for (const { name, type } of fields) {
    const value = members[name];
    if (type === 'json' && typeof value === 'string') members[name] = parseJson(value);
    else if (typeof value === 'bigint') members[name] = JSON.rawJSON(String(value));
  }
  return JSON.stringify(members);
}

/** Two leagues have equal hashes if and only if all members are equal, apart from the order of keys in JSON. */
export function contentHash(league: League): string {
  const content = LEAGUE_MEMBERS.map(({ name, type }) => {
    const value = league[name];
    if (type === 'json') return withSortedKeys(value);
    return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
  });
  return hash('sha256', JSON.stringify([READER_VERSION, ...content]), 'base64url');
}

/** Raise it if elements are read in another way, so that leagues with a stored hash are read again. */
const READER_VERSION = 1;

/** What is hashed of a league without any field; last is the column `extra`. */
const NO_CONTENT: readonly JsonValue[] = [READER_VERSION, ...LEAGUE_FIELDS.map(() => null), '{}'];
const PLACES = new Map<string, Field & { readonly place: number }>(
  LEAGUE_FIELDS.map((field, index) => [field.name, { ...field, place: index + 1 }]),
);
const EXPECTED = LEAGUE_FIELDS.filter(({ presence }) => presence === 'expected').length;

/**
 * The `contentHash` that the league in this element has if each field is stored as it was sent. If a stored league has
 * this hash, the element needs no validation. Undefined if a field is unknown, is not as declared, or would be drift.
 */
export function elementHash(sent: JsonObject): string | undefined {
  if (!LEAGUE_STATUSES.includes(sent.status)) return undefined;
  const content = [...NO_CONTENT];
  let expected = 0;
  // Looking up every field in leagues that have different ones would take twice as long.
  for (const name in sent) {
    const field = PLACES.get(name);
    const value = sent[name];
    if (field === undefined || value === undefined) return undefined;
    if (field.presence === 'expected') expected += 1;
    if (field.type === 'json' && Array.isArray(value) && !isDeeperThan(value, MAX_DEPTH))
      content[field.place] = withSortedKeys(JSON.stringify(value));
    else if (value === null || isAsDeclared(field.type, value)) content[field.place] = value;
    else return undefined;
  }
  const text = JSON.stringify(content);
  // JSON escapes the characters that no column can store. A search of the whole text is faster than one of each value.
  if (text.includes('\\u') || expected < EXPECTED) return undefined;
  return hash('sha256', text, 'base64url');
}

/** Whether a text, number, flag or scalar has its declared type. False for lists. A text may still be unstorable. */
export function isAsDeclared(type: FieldType, sent: JsonValue | undefined): sent is string | number | boolean {
  if (typeof sent === 'string') return type === 'text' || type === 'scalar';
  if (typeof sent === 'number') return type === 'number' || type === 'scalar';
  return typeof sent === 'boolean' && type === 'flag';
}

/** Whether the database can store a text: SQLite functions end texts at NUL, and UTF-8 has no unpaired surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The order of keys in JSON makes no difference, nor does it that the database returns long integers as BigInt. */
export function isSameValue(field: Field, a: FieldValue, b: FieldValue): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return String(a) === String(b);
  return field.type === 'json' && withSortedKeys(a) === withSortedKeys(b);
}

const isNumber = (value: FieldValue): boolean => typeof value === 'number' || typeof value === 'bigint';

function withSortedKeys<Value>(json: Value): Value | JsonText {
  // JSON without a comma contains no object with two keys to sort.
  return typeof json === 'string' && json.includes(',') ? canonicalJson(parseJson(json)) : json;
}
