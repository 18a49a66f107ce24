import type { Drift } from '../drift.ts';
import type { Field, FieldType, FieldValue } from '../interface.ts';
import { canonicalJson, type JsonObject, type JsonValue, rawNumber, typeName } from '../json.ts';

/** A value read into the form of its column; `converted` where that took a conversion, which loses nothing. */
type Reading = { readonly value: FieldValue; readonly converted?: true };

/** Why a required field is unusable. `path` is the field's name. */
export type Problem = { readonly path: string; readonly message: string };

/** An object of the interface, read field by field. */
export type ReadFields<Name extends string> = {
  readonly values: Readonly<Record<Name | 'extra', FieldValue>>;
  readonly problems: readonly Problem[];
  readonly drift: readonly Drift[];
};

const DECLARED: Readonly<Record<FieldType, string>> = {
  text: 'string',
  number: 'number',
  flag: 'boolean',
  json: 'list',
  scalar: 'any',
};

/** A name longer than this is no name, and may be anything that was put in its place. */
const LONGEST_NAME = 120;

/** More of them are no fields, but a list in the wrong place. */
const MOST_UNKNOWN = 100;

/** The fields of an answer that the interface does not name, as drift. */
export function unknownFields(
  answer: JsonObject,
  known: readonly string[],
  answerName: string,
  scrub = (name: string): string => name,
): readonly Drift[] {
  return Object.keys(answer)
    .filter((name) => !known.includes(name))
    .slice(0, MOST_UNKNOWN)
    .map((name) => unknownField(`${answerName}.${scrub(name)}`, answer[name]));
}

function unknownField(field: string, sent: JsonValue | undefined): Drift {
  return { field: field.slice(0, LONGEST_NAME), kind: 'unknown-field', detail: typeName(sent) };
}

/**
 * Reads the fields of one object (contract, 5.2). What fits nowhere but is optional goes to `extra`, as do fields that
 * the interface does not name; both are drift. `prefix` is the object's place in the names of drift.
 */
export function readFields<Name extends string>(
  fields: readonly Field<Name>[],
  object: JsonObject,
  prefix: string,
): ReadFields<Name> {
  const values: Partial<Record<string, FieldValue>> = {};
  const spare: [string, JsonValue][] = [];
  const problems: Problem[] = [];
  const drift: Drift[] = [];

  let present = 0;
  for (const field of fields) {
    const sent = object[field.name];
    if (sent !== undefined) present += 1;
    if (isAsDeclared(field.type, sent)) {
      values[field.name] = sent;
      continue;
    }
    const found = readField(field, sent, prefix);
    values[field.name] = found.value;
    if (found.problem !== undefined) problems.push({ path: field.name, message: found.problem });
    if (found.drift !== undefined) drift.push(found.drift);
    if (found.spare !== undefined) spare.push([field.name, found.spare]);
  }
  const names = Object.keys(object);
  for (const name of names.length > present ? names : []) {
    if (Object.hasOwn(values, name)) continue;
    const value = object[name] ?? null;
    spare.push([name, value]);
    drift.push(unknownField(`${prefix}${name}`, value));
  }
  // fromEntries defines members, so a field named __proto__ is a field like any other.
  values.extra = spare.length === 0 ? '{}' : JSON.stringify(Object.fromEntries(spare));
  return { values: values as Record<Name | 'extra', FieldValue>, problems, drift };
}

/** Whether the value is its column's as it is: nearly all are. */
function isAsDeclared(type: FieldType, sent: JsonValue | undefined): sent is string | number | boolean {
  if (typeof sent === 'string') return (type === 'text' || type === 'scalar') && storable(sent);
  if (typeof sent === 'number') return type === 'number' || type === 'scalar';
  return typeof sent === 'boolean' && type === 'flag';
}

type FoundField = {
  readonly value: FieldValue;
  readonly problem?: string;
  readonly drift?: Drift;
  readonly spare?: JsonValue;
};

const NOTHING_FOUND: FoundField = { value: null };

function readField(field: Field, sent: JsonValue | undefined, prefix: string): FoundField {
  if (sent === undefined || sent === null) return readAbsence(field, sent, prefix);
  const reading = readValue(field.type, sent);
  if (reading === undefined) return describeMisfit(field, sent, prefix);
  return reading.converted ? { value: reading.value, drift: wrongType(field, sent, prefix) } : reading;
}

function readAbsence({ name, type, presence }: Field, sent: null | undefined, prefix: string): FoundField {
  if (presence === 'required') return { value: null, problem: `is missing (${typeName(sent)})` };
  if (presence === 'optional' || sent === null) return NOTHING_FOUND;
  const drift = { field: `${prefix}${name}`, kind: 'missing-field', detail: `absent for ${DECLARED[type]}` } as const;
  return { value: null, drift };
}

/** A value that no column can take as it is: a problem where the field is required, spare where it is not. */
function describeMisfit(field: Field, sent: JsonValue, prefix: string): FoundField {
  const unstorable = field.type === 'text' && typeof sent === 'string';
  const drift: Drift = unstorable
    ? {
        field: `${prefix}${field.name}`,
        kind: 'unexpected-value',
        detail: 'string with a character that no text can hold',
      }
    : wrongType(field, sent, prefix);
  if (field.presence !== 'required') return { value: null, spare: sent, drift };
  const problem = unstorable
    ? 'holds a character that a database text cannot hold (NUL, or half of a surrogate pair)'
    : `is ${withArticle(typeName(sent))} that cannot be read as a ${DECLARED[field.type]} without loss`;
  return { value: null, problem, drift };
}

function wrongType({ name, type }: Field, sent: JsonValue, prefix: string): Drift {
  return { field: `${prefix}${name}`, kind: 'wrong-type', detail: `${typeName(sent)} for ${DECLARED[type]}` };
}

function readValue(type: FieldType, sent: JsonValue): Reading | undefined {
  switch (type) {
    case 'text':
      return readText(sent);
    case 'number':
      return readNumber(sent);
    case 'flag':
      return readFlag(sent);
    case 'json':
      // Its shape is not shown by the interface, so whatever comes is stored; only a non-list is worth a note.
      return Array.isArray(sent) ? { value: JSON.stringify(sent) } : { value: JSON.stringify(sent), converted: true };
    case 'scalar':
      return { value: readScalar(sent) };
  }
}

/** A value as a text, if that loses nothing. */
export function readText(sent: JsonValue | undefined): Reading | undefined {
  if (typeof sent === 'string') return storable(sent) ? { value: sent } : undefined;
  if (typeof sent === 'number') return { value: String(sent), converted: true };
  const digits = rawNumber(sent);
  return digits === undefined ? undefined : { value: digits, converted: true };
}

/** SQLite ends a text at a NUL wherever it measures or prints it, and UTF-8 has no half of a surrogate pair. */
function storable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readNumber(sent: JsonValue): Reading | undefined {
  if (typeof sent === 'number') return { value: sent };
  const digits = rawNumber(sent);
  if (digits !== undefined) return wrap(exactNumber(digits) ?? columnNumber(Number(digits)));
  if (typeof sent !== 'string' || !JSON_NUMBER.test(sent)) return undefined;
  const value = exactNumber(sent);
  return value === undefined ? undefined : { value, converted: true };
}

function wrap(value: number | bigint | undefined): Reading | undefined {
  return value === undefined ? undefined : { value };
}

/** A number in the form in which a column gives it back: a whole one that 64 bits can hold is an integer. */
function columnNumber(value: number): number | bigint | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Number.isInteger(value) ? (exactInteger(BigInt(value)) ?? value) : value;
}

const LARGEST_INTEGER = 2n ** 63n - 1n;

/** The number that a JSON number's text means, if a column can hold it without losing a digit. */
function exactNumber(text: string): number | bigint | undefined {
  if (/^-?\d+$/.test(text)) return exactInteger(BigInt(text));
  const value = Number(text);
  const digits = text
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
  if (value === 0 && digits !== '') return undefined;
  // More digits than any double keeps may still be those that name just this one.
  return digits.length <= 15 || String(value) === text ? columnNumber(value) : undefined;
}

function exactInteger(value: bigint): number | bigint | undefined {
  if (value > LARGEST_INTEGER || value < -LARGEST_INTEGER - 1n) return undefined;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function readFlag(sent: JsonValue): Reading | undefined {
  if (typeof sent === 'boolean') return { value: sent };
  if (sent === 'true' || sent === 'false') return { value: sent === 'true', converted: true };
  return undefined;
}

function readScalar(sent: JsonValue): FieldValue {
  if (typeof sent === 'number') return sent;
  if (typeof sent === 'string') return storable(sent) ? sent : JSON.stringify(sent);
  const digits = rawNumber(sent);
  // Canonical, because the order of keys is no difference.
  return digits === undefined ? canonicalJson(sent) : (exactNumber(digits) ?? digits);
}

function withArticle(noun: string): string {
  return `${noun === 'object' ? 'an' : 'a'} ${noun}`;
}
