import type { Column } from './tables.ts';

type Row = Readonly<Record<string, unknown>>;

/** PostgreSQL has no NUL in texts; half a surrogate pair is no character. */
const REPLACEMENT = '\ufffd';

/** Rows of SQLite as a JSON list. JSON in them is a string, so that null is not NULL, or a part, which is faster. */
export function rowsJson(rows: readonly Row[], columns: readonly Column[], json: 'string' | 'part'): string {
  const objects = rows.map((row) => {
    const members = columns.map(({ name, type }) => `"${name}":${cellJson(row[name], type, json)}`);
    return `{${members.join(',')}}`;
  });
  return `[${objects.join(',')}]`;
}

function cellJson(value: unknown, type: Column['type'], json: 'string' | 'part'): string {
  if (value === null || value === undefined) return 'null';
  if (type === 'boolean') return value === 0 ? 'false' : 'true';
  if (type === 'json')
    return json === 'part' ? storableJson(String(value)) : JSON.stringify(storableJson(String(value)));
  return JSON.stringify(typeof value === 'string' ? storableText(value) : value);
}

export function storableText(text: string): string {
  return text.replaceAll('\0', REPLACEMENT).toWellFormed();
}

const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u(?:0000|[dD][89a-fA-F][\da-fA-F]{2})|\\./g;
const PAIR_LENGTH = 12;
/** Any number that PostgreSQL may be unable to store has an exponent or a row of digits like this. */
const MAY_BE_BEYOND = /\d[eE][+-]?\d{4}|\d{7000}/;
/** Not a whole string, since the expression would run out of stack in one with millions of escapes. */
const QUOTE_OR_NUMBER = /\\.|"|-?\d[\d.eE+-]*/g;

/** JSON as `jsonb` can hold it: U+FFFD for NUL and half a surrogate pair, a text for a number beyond `numeric`. */
export function storableJson(json: string): string {
  const text = json.includes('\\u') ? json.replace(ESCAPES, replaceEscape) : json;
  if (!MAY_BE_BEYOND.test(text)) return text;
  let isString = false;
  return text.replace(QUOTE_OR_NUMBER, (token) => {
    if (token === '"') isString = !isString;
    return isString || /^["\\]/.test(token) || isNumeric(token) ? token : `"${token}"`;
  });
}

function replaceEscape(found: string): string {
  return found.length === 2 || found.length === PAIR_LENGTH ? found : '\\ufffd';
}

const MAX_WHOLE_DIGITS = 131_072;
const MAX_DECIMALS = 16_383;

/** Whether PostgreSQL's `numeric` can hold this JSON number. */
function isNumeric(text: string): boolean {
  const [, whole = '', decimals = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const shift = Number(exponent);
  const leadingZeros = /^0*/.exec(whole + decimals)?.[0].length ?? 0;
  const isZero = leadingZeros === whole.length + decimals.length;
  if (decimals.length - shift > MAX_DECIMALS) return false;
  return isZero ? shift <= MAX_WHOLE_DIGITS : whole.length - leadingZeros + shift <= MAX_WHOLE_DIGITS;
}
