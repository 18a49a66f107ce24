import { isDeepStrictEqual } from 'node:util';

/** A number that may lose digits as a double (see `isExact`) is a raw JSON object (`JSON.rawJSON`). */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** Lists and objects may be nested this deeply. SQLite parses at most 1,000 levels, and the change feed adds a few. */
export const MAX_DEPTH = 500;

declare global {
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/** Only a number of 16 characters or more, or with 3 digits in its exponent, may lose digits as a double. */
const MAY_LOSE_DIGITS = /(?:^|[:,[\s])-?\d(?:[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]*[eE][+-]?\d{3,})\s*(?:[,\]}]|$)/;

/** Parses JSON; long numbers keep every digit. Throws a SyntaxError if the text is not JSON. */
export function parseJson(text: string): JsonValue {
  if (!hasEscapedKey(text) && !MAY_LOSE_DIGITS.test(text)) return JSON.parse(text);
  // Only a valid text may be spelt out: the result could be valid where the text is not.
  JSON.parse(text);
  return restore(JSON.parse(spellOut(text)), 2 * MAX_DEPTH);
}

/**
 * Whether a key contains an escape. V8 13.6 and 14.6 may take such a key for another one: once an object had a
 * key of the three characters `a\n`, the key in `{"a\nb":1}` (`a`, a line feed, `b`) becomes that one (nodejs/node#63785).
 */
function hasEscapedKey(json: string): boolean {
  for (let at = json.indexOf('\\'); at !== -1; at = json.indexOf('\\', at)) {
    at = endOfString(json, at);
    while (' \t\r\n'.includes(json[at] ?? '-')) at += 1;
    if (json[at] === ':') return true;
  }
  return false;
}

/** The index behind the string in which `at` is. A regular expression would overflow the stack if it has many escapes. */
function endOfString(json: string, at: number): number {
  let end = at;
  while (end < json.length && json[end] !== '"') end += json[end] === '\\' ? 2 : 1;
  return end + 1;
}

/** Valid JSON with each object `{"a":1}` as `{"":["a",1]}`, so that no key is escaped, and a long number as `{"":"…"}`. */
function spellOut(json: string): string {
  const spellings: Readonly<Record<string, string>> = { '{': '{"":[', '}': ']}', ':': ',' };
  const token = /[{}:]|-?\d[\d.eE+-]*|[^"{}:\d-]+/y;
  let spelt = '';
  for (let [at, end] = [0, 0]; at < json.length; at = end) {
    token.lastIndex = at;
    const found = json[at] === '"' ? undefined : token.exec(json)?.[0];
    end = found === undefined ? endOfString(json, at + 1) : token.lastIndex;
    const text = json.slice(at, end);
    const isLong = found !== undefined && /\d/.test(found) && !isExact(Number(found), found);
    spelt += isLong ? `{"":"${text}"}` : (spellings[text] ?? text);
  }
  return spelt;
}

/** What `spellOut` has written in another way. What is nested more than `limit` levels deep becomes null. */
function restore(value: unknown, limit: number): JsonValue {
  if (typeof value !== 'object' || value === null) return value as JsonValue;
  if (limit === 0) return null;
  if (Array.isArray(value)) return value.map((element) => restore(element, limit - 1));
  const members: unknown = Object.values(value)[0];
  if (!Array.isArray(members)) return JSON.rawJSON(String(members)) as JsonValue;
  const keys = members.filter((_member, index) => index % 2 === 0);
  // Unlike an assignment, fromEntries keeps a key named __proto__.
  return Object.fromEntries(keys.map((key, index) => [key, restore(members[2 * index + 1], limit - 1)]));
}

/** The smallest positive double with full precision. Smaller doubles (subnormal numbers) have fewer digits. */
const MIN_NORMAL = 2 ** -1022;
const EXACT_DIGITS = 15;

/** Whether the double `value` keeps all digits of the JSON number `source`. */
export function isExact(value: number, source: string): boolean {
  // An integer beyond the safe range counts as inexact, so that it is stored as a 64-bit integer if it fits.
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value);
  const digits = source.replace(/[eE].*$|[-.]/g, '').replace(/^0+|0+$/g, '');
  const isNormal = Number.isFinite(value) && (digits === '' || Math.abs(value) >= MIN_NORMAL);
  return (isNormal && digits.length <= EXACT_DIGITS) || String(value) === source.replace(/\.0+$/, '');
}

/** The text of a number that is kept as raw JSON; undefined for every other value. */
export function rawNumber(value: unknown): string | undefined {
  return JSON.isRawJSON(value) ? JSON.stringify(value) : undefined;
}

/** JSON with sorted keys. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** The members of JSON text; none if it is no object. */
export function membersOf(json: string | null): JsonObject {
  const value = json === null ? null : parseJson(json);
  return isObject(value) ? value : {};
}

/** The names of the members in which two objects differ. The order of keys makes no difference. */
export function differingMembers(one: JsonObject, other: JsonObject): readonly string[] {
  const names = new Set([one, other].flatMap(Object.keys));
  return [...names].filter((name) => one[name] !== other[name] && !isDeepStrictEqual(one[name], other[name]));
}

/** Whether lists and objects are nested more than `limit` levels deep. Recurses no deeper, to protect the stack. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return false;
  return limit === 0 || Object.values(value).some((member) => isDeeperThan(member, limit - 1));
}

/** JSON is never refused if it has no more values than this; most responses have far fewer. */
const MANY_VALUES = 3_000_000;
/** JSON with more values is refused if it has fewer bytes per value than this; leagues have 28 bytes per value. */
const MIN_BYTES_PER_VALUE = 16;
/** 1 for each byte that may precede a list element or a key. A table is fast enough for bodies of tens of MB. */
const BEGINS_VALUE = Uint8Array.from({ length: 256 }, (_, byte) => (',[{'.includes(String.fromCharCode(byte)) ? 1 : 0));

/** Whether JSON has so many tiny values, also in strings, that parsing it would take many times its memory. */
export function hasTooManyValues(json: Uint8Array): boolean {
  if (json.length < MANY_VALUES) return false;
  let values = 0;
  for (let at = 0; at < json.length; at += 1) values += BEGINS_VALUE[json[at] ?? 0] ?? 0;
  return values > Math.max(MANY_VALUES, json.length / MIN_BYTES_PER_VALUE);
}

/** The name of the value's type in the interface; `absent` if the value is undefined. */
export function typeName(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (rawNumber(value) !== undefined) return 'number';
  return typeof value;
}
