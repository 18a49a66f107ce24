import { canonicalJson, parseJson } from './json.ts';

/** JSON kept as text, so that no digit and no order of keys is lost on the way through. */
export type JsonText = string;

/** A field's value in the form in which its column holds it (flags apart, which SQLite knows as 0 and 1). */
export type FieldValue = string | number | bigint | boolean | null;

/**
 * What a field may hold. `scalar` is the interface's "any": a string, a number, or the JSON of anything else as text.
 */
export type FieldType = 'text' | 'number' | 'flag' | 'json' | 'scalar';

/**
 * One field of the interface: its name, its type, and whether it must be there. A field `expected` may be missing,
 * which is a departure from the interface all the same.
 */
export type Field<Name extends string = string> = {
  readonly name: Name;
  readonly type: FieldType;
  readonly presence: 'required' | 'expected' | 'optional';
};

/** The JSON of one value, as the change feed embeds it: JSON columns unquoted, integers with all their digits. */
export function valueJson(field: Field, value: FieldValue): string {
  if (value === null) return 'null';
  if (field.type === 'json') return String(value);
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

/** The same text for every value that counts as the same: the order of keys inside JSON is no difference. */
export function canonicalValue(field: Field, value: FieldValue): string {
  const json = valueJson(field, value);
  return field.type === 'json' && json.length > '{}'.length ? canonicalJson(parseJson(json)) : json;
}

/** Whether two values of a field count as the same. */
export function isSameValue(field: Field, one: FieldValue, other: FieldValue): boolean {
  return one === other || canonicalValue(field, one) === canonicalValue(field, other);
}
