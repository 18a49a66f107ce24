import {
  type Cell,
  canonical,
  fitsInteger,
  isDigits,
  isList,
  isSure,
  numberCell,
  numberText,
  typeOf,
  type Written,
} from './json.ts';

export type Deviation = { readonly kind: string; readonly detail: string };

/** The result of reading one field of an element (contract, 5.2). */
export type Found = {
  readonly cell: Cell;
  readonly departure?: Deviation;
  /** The value for `extra`, if its column cannot store it. */
  readonly spare?: Written;
  readonly unusable?: true;
};

/** The fields of a league with their declared types, as the table of the interface (2.3) lists them. */
export const DECLARED: Readonly<Record<string, string>> = {
  league_id: 'string',
  league_name: 'string',
  sport: 'string',
  league_image: 'string',
  priority: 'number',
  status: 'string',
  sport_db_id: 'string',
  active_season_type: 'string',
  active_year: 'string',
  external_id: 'string',
  external_odds_id: 'string',
  default_markets: 'list',
  default_tournaments: 'boolean',
  rankings: 'boolean',
  active_poll: 'string',
  state: 'string',
  city: 'string',
  create_datetime: 'any',
  last_update_datetime: 'any',
};
export const MEMBERS: readonly string[] = [...Object.keys(DECLARED), 'extra'];
const REQUIRED = ['league_id', 'league_name', 'sport', 'league_image', 'priority', 'status'];

/** `converted` if the value was sent as another type than the declared one. */
type Reading = { readonly cell: Cell; readonly converted: boolean };

export function findField(name: string, sent: Written | undefined): Found {
  const declared = DECLARED[name] ?? '';
  const required = REQUIRED.includes(name);
  if (sent === undefined && declared === 'any') {
    return { cell: null, departure: { kind: 'missing-field', detail: 'not sent' } };
  }
  if (sent === undefined || sent === null) return required ? { cell: null, unusable: true } : { cell: null };
  const reading = readAs(declared, sent);
  const wrongType = { kind: 'wrong-type', detail: `${typeOf(sent)} for ${declared}` };
  if (reading !== undefined) return reading.converted ? { cell: reading.cell, departure: wrongType } : reading;
  const departure =
    declared === 'string' && typeof sent === 'string'
      ? { kind: 'unexpected-value', detail: 'string with a character that no text can hold' }
      : wrongType;
  return required ? { cell: null, departure, unusable: true } : { cell: null, departure, spare: sent };
}

function readAs(declared: string, sent: Written): Reading | undefined {
  if (declared === 'string') return readString(sent);
  if (declared === 'number') return readNumber(sent);
  if (declared === 'boolean') return readBoolean(sent);
  if (declared === 'list') return { cell: canonical(sent), converted: !isList(sent) };
  return { cell: readAny(sent), converted: false };
}

export function readString(sent: Written | undefined): Reading | undefined {
  if (isDigits(sent)) return { cell: numberText(sent), converted: true };
  return typeof sent === 'string' && isStorable(sent) ? { cell: sent, converted: false } : undefined;
}

/** A NUL ends a text of SQLite, and half of a surrogate pair is no UTF-8. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}

function readNumber(sent: Written): Reading | undefined {
  if (isDigits(sent)) {
    const cell = numberCell(sent);
    return cell === undefined ? undefined : { cell, converted: false };
  }
  if (typeof sent !== 'string' || !isLossless(sent)) return undefined;
  return { cell: numberCell({ digits: sent }) ?? null, converted: true };
}

/** Whether a text is a number as JSON writes one, and a column holds all of its digits. */
function isLossless(text: string): boolean {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return false;
  return /^-?\d+$/.test(text) ? fitsInteger(BigInt(text)) : isSure(text);
}

function readBoolean(sent: Written): Reading | undefined {
  if (typeof sent === 'boolean') return { cell: sent ? 1n : 0n, converted: false };
  if (sent === 'true' || sent === 'false') return { cell: sent === 'true' ? 1n : 0n, converted: true };
  return undefined;
}

function readAny(sent: Written): Cell {
  if (typeof sent === 'string') return isStorable(sent) ? sent : canonical(sent);
  if (!isDigits(sent)) return canonical(sent);
  const isWhole = /^-?\d+$/.test(sent.digits);
  const kept = isWhole ? fitsInteger(BigInt(sent.digits)) : isSure(sent.digits);
  return kept ? (numberCell(sent) ?? null) : numberText(sent);
}
