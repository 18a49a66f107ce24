/** A number as it was written: no digit is lost. */
export type Digits = { readonly digits: string };
/** A value of a JSON text; objects are maps, so that no name of a member means anything. */
export type Written = null | boolean | string | Digits | readonly Written[] | WrittenObject;
export type WrittenObject = ReadonlyMap<string, Written>;

/** A value as a column gives it back: INTEGER as bigint, REAL as number. JSON columns hold canonical text here. */
export type Cell = string | bigint | number | null;

export function readJson(text: string): Written {
  return JSON.parse(text, (_key, value: unknown, { source = '' }: { source?: string } = {}) => {
    if (typeof value === 'number') return { digits: source };
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return new Map(Object.entries(value));
  }) as Written;
}

export function isList(value: Written | undefined): value is readonly Written[] {
  return Array.isArray(value);
}

export function isMap(value: Written | undefined): value is WrittenObject {
  return value instanceof Map;
}

export function isDigits(value: Written | undefined): value is Digits {
  return typeof value === 'object' && value !== null && 'digits' in value;
}

export function typeOf(value: Written): string {
  if (value === null) return 'null';
  if (isList(value)) return 'list';
  if (isMap(value)) return 'object';
  return isDigits(value) ? 'number' : typeof value;
}

/** The digits that a double always keeps; it may keep more. */
const SURE_DIGITS = 15;

/** The number of significant digits. */
export function countDigits(digits: string): number {
  const [mantissa = ''] = digits.split(/e/i);
  return mantissa.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '').length;
}

/** Whether a double represents the number exactly. */
export function isSure(digits: string): boolean {
  const value = Number(digits);
  if (!Number.isFinite(value) || (value === 0 && countDigits(digits) > 0)) return false;
  return countDigits(digits) <= SURE_DIGITS || String(value) === digits;
}

/** One text for each number: `2.50` and `2.5` are the same, and what a double cannot hold stays as it was written. */
export function numberText({ digits }: Digits): string {
  if (/^-?\d+$/.test(digits)) return String(BigInt(digits));
  return isSure(digits) ? String(Number(digits)) : digits;
}

const HALF = 2n ** 63n;

export function fitsInteger(value: bigint): boolean {
  return value >= -HALF && value < HALF;
}

/** The number as a column of numbers gives it back; undefined if not even a double can hold it. */
export function numberCell({ digits }: Digits): bigint | number | undefined {
  if (/^-?\d+$/.test(digits) && fitsInteger(BigInt(digits))) return BigInt(digits);
  const value = Number(digits);
  if (!Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value) : value;
}

/** The same text for values that differ only in the order of keys. */
export function canonical(value: Written): string {
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  if (isDigits(value)) return numberText(value);
  if (!isMap(value)) return JSON.stringify(value);
  const members = [...value].sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
