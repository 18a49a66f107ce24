import { type FieldType, type FieldValue, LEAGUE_MEMBERS, type League } from '../../interface.ts';

/** What a column is written with. */
export type ColumnValue = string | number | bigint | null;

/** The columns of `leagues` that hold a league's members, in their order. */
export const MEMBER_COLUMNS: readonly string[] = LEAGUE_MEMBERS.map((member) => member.name);

/** What these columns hold of a league. */
export function columnsOf(league: League): readonly ColumnValue[] {
  return LEAGUE_MEMBERS.map((member) => toColumn(league[member.name]));
}

/** Whether SQLite's 64-bit integers can hold the number. */
function isColumnInteger(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

/** JavaScript's numbers are bound as REAL, which a column of type ANY would keep; whole ones are integers. */
function toColumn(value: FieldValue): ColumnValue {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'number' && isColumnInteger(value) ? BigInt(value) : value;
}

export type Row = Readonly<Record<string, ColumnValue>>;

/** The league that a row holds, its integers read as BigInt. */
export function leagueOf(row: Row): League {
  const members = LEAGUE_MEMBERS.map((field) => [field.name, toValue(field.type, row[field.name] ?? null)]);
  // The columns are STRICT and checked, so a row has the types of a league.
  return Object.fromEntries(members) as League;
}

function toValue(type: FieldType, stored: FieldValue): FieldValue {
  if (typeof stored !== 'bigint') return stored;
  if (type === 'flag') return stored === 1n;
  return Number.isSafeInteger(Number(stored)) ? Number(stored) : stored;
}
