/** Any value that JSON can write. Numbers that a double cannot hold exactly appear as raw JSON objects. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** SQLite reads JSON down to 1,000 levels; the feed wraps a value in a few more. */
export const DEEPEST_JSON = 500;

declare global {
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/**
 * Only a number with this many digits, with or without a point among them, or with such an exponent can lose anything in
 * a double. It stands where a value stands, so that the digits of ids and texts do not count.
 */
const MAY_LOSE_DIGITS = /(?:^|[:,[\s])-?\d(?:[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]*[eE][+-]?\d{3,})\s*(?:[,\]}]|$)/;
/** Smaller than this a double has fewer digits. */
const SMALLEST_NORMAL = 2 ** -1022;
const EXACT_DIGITS = 15;

/**
 * Parses JSON without losing a digit of any number. Throws a SyntaxError. V8 13.6 may take a name that ends in an escape
 * (`"\\\""`) for another such name that it has read before (`"\\\\"`); no field of the service has one. If a long number
 * stands in a text that is nested thousands of levels deep, what lies far below `DEEPEST_JSON` is left out.
 */
export function parseJson(text: string): JsonValue {
  if (!MAY_LOSE_DIGITS.test(text)) return JSON.parse(text);
  try {
    return parseExactly(text);
  } catch (error) {
    // Looking at every value recurses. What is nested that deeply is refused where it stands, and not kept.
    if (error instanceof RangeError) return parseExactly(emptyBelow(text, 2 * DEEPEST_JSON));
    throw error;
  }
}

function parseExactly(text: string): JsonValue {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    return isExact(value, context.source) ? value : JSON.rawJSON(context.source);
  });
}

/** The same JSON, with every list and object at this depth empty. */
function emptyBelow(json: string, limit: number): string {
  let kept = '';
  let from = 0;
  let depth = 0;
  // A text, a bracket that opens, or one that closes.
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]+|\\.)*"|[[{]|[\]}]/g)) {
    if (token === '[' || token === '{') {
      depth += 1;
      if (depth === limit) kept += json.slice(from, index + 1);
    } else if (token === ']' || token === '}') {
      if (depth === limit) from = index;
      depth -= 1;
    }
  }
  return kept + json.slice(from);
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  if (digits !== '' && Math.abs(value) < SMALLEST_NORMAL) return false;
  // A whole number is a 64-bit integer in a column, where that can hold it, and all its digits count.
  if (
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    (Math.abs(value) < 2 ** 63 || /^-?\d+$/.test(source))
  ) {
    return false;
  }
  return digits.length <= EXACT_DIGITS || Number.isSafeInteger(value) || String(value) === source;
}

/** The exact text of a number that a double cannot hold; undefined for every other value. */
export function rawNumber(value: unknown): string | undefined {
  return JSON.isRawJSON(value) ? JSON.stringify(value) : undefined;
}

/** Writes JSON that is the same text whatever the order of keys in the value was. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`;
}

/** Whether a value is a JSON object: no list, no null, no number kept as text. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Whether lists and objects are nested deeper than `limit`. Never recurses deeper than that itself. */
export function isDeeperThan(value: JsonValue, limit: number): boolean {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return false;
  if (limit === 0) return true;
  for (const member of Object.values(value))
    if (typeof member === 'object' && isDeeperThan(member, limit - 1)) return true;
  return false;
}

/** More values than any list of leagues has, unless each of them is of some length; a league's take 28 bytes each. */
const MANY_VALUES = 3_000_000;
const LEAST_BYTES_EACH = 16;
/** 1 for each byte that begins a value in JSON: `,`, `[` and `{`. A table, since tens of megabytes are looked up in it. */
const BEGINS_VALUE = new Uint8Array(256);
for (const sign of ',[{') BEGINS_VALUE[sign.charCodeAt(0)] = 1;

/** Whether parsing this JSON would take many times the memory of its text: each value, however short, takes some. */
export function isMostlyNothing(json: Uint8Array): boolean {
  if (json.length < MANY_VALUES) return false;
  let values = 0;
  for (let at = 0; at < json.length; at += 1) values += BEGINS_VALUE[json[at] ?? 0] ?? 0;
  return values > MANY_VALUES && values * LEAST_BYTES_EACH > json.length;
}

/** The name of a value's type in the words of the interface. */
export function typeName(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (rawNumber(value) !== undefined) return 'number';
  return typeof value;
}
