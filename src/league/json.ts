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

/**
 * A JSON number with at least 16 characters between its sign and its exponent, or at least 3 digits in its exponent.
 * Only such a number may lose digits as a double.
 */
const MAY_LOSE_DIGITS = /(?:^|[:,[\s])-?\d(?:[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]*[eE][+-]?\d{3,})\s*(?:[,\]}]|$)/;

/**
 * Parses JSON; long numbers keep every digit. Throws a SyntaxError if the text is not JSON. In a text that has a long
 * number and is nested thousands of levels deep, levels deeper than twice `MAX_DEPTH` are dropped. A bug of V8 13.6 may
 * mix up two keys that end in an escape (`"\\\""`, `"\\\\"`); the interface has no such keys.
 */
export function parseJson(text: string): JsonValue {
  if (!MAY_LOSE_DIGITS.test(text)) return JSON.parse(text);
  try {
    return parseExactly(text);
  } catch (error) {
    // With a reviver, JSON.parse recurses, which overflowed the stack. Values this deep are never stored anyway.
    if (error instanceof RangeError) return parseExactly(emptyBelow(text, 2 * MAX_DEPTH));
    throw error;
  }
}

function parseExactly(text: string): JsonValue {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    return isExact(value, context.source) ? value : JSON.rawJSON(context.source);
  });
}

/** Empties the lists and objects at depth `limit`. */
function emptyBelow(json: string, limit: number): string {
  let depth = 0;
  return json.replace(/"(?:[^"\\]+|\\.)*"|[[{]|[\]}]|[^"[\]{}]+/g, (token) => {
    if (token === '[' || token === '{') depth += 1;
    const isKept = /^[[\]{}]/.test(token) ? depth <= limit : depth < limit;
    if (token === ']' || token === '}') depth -= 1;
    return isKept ? token : '';
  });
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

/** Whether lists and objects are nested more than `limit` levels deep. Recurses no deeper, to protect the stack. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return false;
  return limit === 0 || Object.values(value).some((member) => isDeeperThan(member, limit - 1));
}

/** JSON is never refused if `countValues` finds no more values than this; most responses have far fewer. */
const MANY_VALUES = 3_000_000;
/** JSON with more values is refused if it has fewer bytes per value than this; leagues have 28 bytes per value. */
const MIN_BYTES_PER_VALUE = 16;
/** 1 for each byte that may precede a list element or a key. A table is fast enough for bodies of tens of MB. */
const BEGINS_VALUE = Uint8Array.from({ length: 256 }, (_, byte) => (',[{'.includes(String.fromCharCode(byte)) ? 1 : 0));

/** Whether this JSON has so many tiny values that parsing it would take many times the memory of its text. */
export function hasTooManyValues(json: Uint8Array): boolean {
  if (json.length < MANY_VALUES) return false;
  const limit = Math.max(MANY_VALUES, json.length / MIN_BYTES_PER_VALUE);
  // Counting all values only if the estimate is high saves 45 ms for a body of 50 MB.
  return countValues(json, 16) > 0.75 * limit && countValues(json, 1) > limit;
}

const BLOCK_BYTES = 4_096;

/**
 * Counts the values in one of every `of` blocks and multiplies the count by `of`. The blocks are picked at random, so
 * that a sender cannot foresee which ones are counted. Commas and brackets inside strings count as well.
 */
function countValues(json: Uint8Array, of: number): number {
  let values = 0;
  for (let group = 0; group < json.length; group += of * BLOCK_BYTES) {
    const start = group + BLOCK_BYTES * Math.floor(of * Math.random());
    const end = Math.min(start + BLOCK_BYTES, json.length);
    for (let at = start; at < end; at += 1) values += BEGINS_VALUE[json[at] ?? 0] ?? 0;
  }
  return values * of;
}

/** The name of the value's type in the interface; `absent` if the value is undefined. */
export function typeName(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (rawNumber(value) !== undefined) return 'number';
  return typeof value;
}
