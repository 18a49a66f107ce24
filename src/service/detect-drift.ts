import type { Drift } from '../league/drift.ts';
import { isAsDeclared, isStorable } from '../league/feed-json.ts';
import { canonicalJson, isExact, type JsonObject, type JsonValue, rawNumber, typeName } from '../league/json.ts';
import type { Field, FieldType, FieldValue } from '../league/response-schemas.ts';

/** Why a required field or a whole element is unusable. `path` is the field's name, or empty for an element. */
export type Problem = { readonly path: string; readonly message: string };

type ParseFindings = {
  /** Names and values for the column `extra`. */
  readonly extra: [string, JsonValue][];
  readonly problems: Problem[];
  readonly drift: Drift[];
};

/** The names of the types in the interface. */
const TYPE_NAMES: Readonly<Record<FieldType, string>> = {
  text: 'string',
  number: 'number',
  flag: 'boolean',
  json: 'list',
  scalar: 'any',
};

/** Limits for drift, since a service may send very long names and very many unknown fields. */
const MAX_NAME_LENGTH = 120;
const MAX_UNKNOWN_FIELDS = 100;

/** Drift for the unknown fields of a response. `scrub` redacts their names. */
export function unknownFields(body: JsonObject, shape: object, response: string, scrub = (name: string) => name) {
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(shape, name));
  return unknown.slice(0, MAX_UNKNOWN_FIELDS).map((name) => unknownField(`${response}.${scrub(name)}`, body[name]));
}

function unknownField(field: string, sent: JsonValue | undefined): Drift {
  return { field: field.slice(0, MAX_NAME_LENGTH), kind: 'unknown-field', detail: typeName(sent) };
}

/** Reads fields. What is unknown or fits nowhere goes to `extra` and drift, where `prefix` precedes its name. */
export function readFields<Name extends string>(fields: readonly Field<Name>[], object: JsonObject, prefix: string) {
  const values: Partial<Record<string, FieldValue>> = {};
  const found: ParseFindings = { extra: [], problems: [], drift: [] };
  const { extra, problems, drift } = found;
  let present = 0;
  for (const field of fields) {
    const sent = object[field.name];
    if (sent !== undefined) present += 1;
    // A fast path: there may be millions of values, and nearly all have the declared type.
    const isPlain = isAsDeclared(field.type, sent) && (typeof sent !== 'string' || isStorable(sent));
    values[field.name] = isPlain ? sent : readField(field, sent, found);
  }
  const isAllKnown = Object.keys(object).length === present;
  for (const [name, sent] of isAllKnown ? [] : Object.entries(object)) {
    if (Object.hasOwn(values, name)) continue;
    extra.push([name, sent]);
    drift.push(unknownField(name, sent));
  }
  // Unlike an assignment, fromEntries keeps a field named __proto__.
  values.extra = extra.length === 0 ? '{}' : JSON.stringify(Object.fromEntries(extra));
  return {
    values: values as Readonly<Record<Name | 'extra', FieldValue>>,
    problems,
    drift: drift.map((entry) => ({ ...entry, field: `${prefix}${entry.field}`.slice(0, MAX_NAME_LENGTH) })),
  };
}

function readField({ name, type, presence }: Field, sent: JsonValue | undefined, found: ParseFindings): FieldValue {
  if (sent === undefined || sent === null) {
    if (presence === 'required') found.problems.push({ path: name, message: sent === null ? 'is null' : 'is missing' });
    else if (presence === 'expected' && sent === undefined)
      found.drift.push({ field: name, kind: 'missing-field', detail: 'not sent' });
    return null;
  }
  const value = READERS[type](sent);
  const sentType = typeName(sent);
  const isUnstorable = value === undefined && type === 'text' && typeof sent === 'string';
  if (isUnstorable) {
    const detail = 'string with a character that no text can hold';
    found.drift.push({ field: name, kind: 'unexpected-value', detail });
  } else if (value === undefined || (type !== 'scalar' && sentType !== TYPE_NAMES[type])) {
    found.drift.push({ field: name, kind: 'wrong-type', detail: `${sentType} for ${TYPE_NAMES[type]}` });
  }
  if (value !== undefined) return value;
  const article = sentType === 'object' ? 'an' : 'a';
  const suffix = sentType === 'object' || sentType === 'list' ? '' : ' that cannot be converted exactly';
  const message = isUnstorable
    ? 'contains a character that the database cannot store (NUL or an unpaired surrogate)'
    : sentType === TYPE_NAMES[type]
      ? `is a ${sentType} that is too large`
      : `should be a ${TYPE_NAMES[type]}, but is ${article} ${sentType}${suffix}`;
  if (presence === 'required') found.problems.push({ path: name, message });
  else found.extra.push([name, sent]);
  return null;
}

/** For values that are not `isAsDeclared`; undefined if the conversion would lose data, except by rounding a number. */
const READERS: Readonly<Record<FieldType, (sent: JsonValue) => FieldValue | undefined>> = {
  text: readText,
  number: readNumber,
  flag: (sent) => (sent === 'true' || sent === 'false' ? sent === 'true' : undefined),
  // The column can store any JSON, so a value that is not a list is kept as well.
  json: (sent) => JSON.stringify(sent),
  scalar: readScalar,
};

/** The text of a string or a number; undefined for any other type, or if the database cannot store the string. */
export function readText(sent: JsonValue | undefined): string | undefined {
  if (typeof sent === 'string') return isStorable(sent) ? sent : undefined;
  return typeof sent === 'number' ? String(sent) : rawNumber(sent);
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readNumber(sent: JsonValue): number | bigint | undefined {
  if (typeof sent === 'string') return JSON_NUMBER.test(sent) ? exactNumber(sent) : undefined;
  const digits = rawNumber(sent);
  if (digits === undefined) return undefined;
  // A number, unlike a numeric string, is rounded if no column can store it exactly.
  const nearest = Number(digits);
  return exactNumber(digits) ?? (Number.isFinite(nearest) ? nearest : undefined);
}

/** The value of a JSON number if a column can store all its digits; otherwise undefined. */
function exactNumber(text: string): number | bigint | undefined {
  const value = Number(text);
  if (isExact(value, text)) return value;
  // No 64-bit integer has more digits, and BigInt would take minutes for millions of them.
  if (!/^-?\d{1,19}$/.test(text)) return undefined;
  const integer = BigInt(text);
  return BigInt.asIntN(64, integer) === integer ? integer : undefined;
}

function readScalar(sent: JsonValue): FieldValue {
  const digits = rawNumber(sent);
  if (digits !== undefined) return exactNumber(digits) ?? digits;
  // Canonical JSON, so that the order of keys makes no difference.
  return canonicalJson(sent);
}
