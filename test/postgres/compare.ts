import { dictionaryRows } from '../../src/store/data-dictionary.ts';
import { expectSame } from '../rigs/model/rows.ts';
import { type Row, withDatabase } from '../support/database.ts';

type Query = (sql: string) => Promise<readonly Row[]>;

/** The relations that must be equal, with what makes their order certain. */
const RELATIONS: Readonly<Record<string, string>> = {
  leagues: 'league_id',
  league_changes: 'seq',
  runs: 'id',
  players: 'player_id',
  rejected_leagues: 'id',
  held_removals: 'league_id',
  drift: 'field, kind, detail',
  data_dictionary: 'object, position',
  active_leagues: '',
  league_versions: 'seq',
  league_field_changes: 'seq, field',
  freshness: '',
};

export const ALL_RELATIONS: readonly string[] = Object.keys(RELATIONS);
/** Those that follow from the feed, which are never later or earlier than it. */
export const FEED_RELATIONS: readonly string[] = [
  'leagues',
  'league_changes',
  'league_versions',
  'league_field_changes',
];

/** Compares tables and views, value by value, with the file as it is now. */
export async function expectMirrored(
  path: string,
  query: Query,
  { schema = 'league_sync', relations = ALL_RELATIONS }: { schema?: string; relations?: readonly string[] } = {},
): Promise<void> {
  for (const relation of relations) {
    const order = RELATIONS[relation] ?? '';
    const columns = columnsOf(relation);
    const names = columns.map(({ name }) => name).join(', ');
    const where =
      relation === 'data_dictionary' ? `WHERE object IN (${mirrored()}) AND description NOT LIKE 'Internal:%'` : '';
    const inFile = withDatabase(
      path,
      (db) =>
        db
          .prepare<[], Row>(`SELECT ${names} FROM ${relation} ${where} ${orderBy(order, '')}`)
          .safeIntegers()
          .all(),
      { readonly: true },
    );
    const inMirror = await query(
      `SELECT * FROM "${schema.replaceAll('"', '""')}".${relation} ${orderBy(order, ' COLLATE "C"')}`,
    );
    const expected = inFile.map((row) => columns.map(({ name, type }) => [name, expectedValue(row, name, type)]));
    const found = inMirror.map((row) =>
      Object.entries(row).map(([name, value]) => [name, foundValue(row, name, value)]),
    );
    if (relation === 'drift') expectSame(byKey(found), byKey(expected), `${relation} of the mirror`);
    else expectSame(found, expected, `${relation} of the mirror`);
  }
}

function mirrored(): string {
  return Object.keys(RELATIONS)
    .map((name) => `'${name}'`)
    .join(', ');
}

type Cells = readonly (readonly (readonly [string, unknown] | unknown[])[])[];

/**
 * Names of fields may hold what PostgreSQL cannot: they have another place in the order, and of two that become the same
 * either may be there.
 */
function byKey(rows: Cells): ReadonlyMap<string, unknown> {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(row.slice(0, 3)));
  return new Map([...groups].sort().map(([key, group]) => [key, key.includes('\ufffd') ? 'any' : group]));
}

const TEXTS = ['league_id', 'player_id', 'field', 'kind', 'detail', 'object'];

function orderBy(order: string, collation: string): string {
  if (order === '') return '';
  const terms = order.split(', ').map((name) => (TEXTS.includes(name) ? name + collation : name));
  return `ORDER BY ${terms.join(', ')}`;
}

function columnsOf(relation: string) {
  return dictionaryRows()
    .filter(
      ({ object, position, description }) => object === relation && position > 0 && !description.startsWith('Internal'),
    )
    .map(({ column_name, type }) => ({ name: String(column_name), type: String(type) }));
}

const JSON_FIELDS = ['default_markets', 'extra'];
const JSON_COLUMNS = [...JSON_FIELDS, 'before', 'after', 'problems', 'raw', 'premium_items', 'unusual_change'];
const FLAGS = ['default_tournaments', 'rankings'];

/** What PostgreSQL has to say for a value of SQLite. */
function expectedValue(row: Row, name: string, type: string): unknown {
  const value = row[name];
  if (value === null || name === 'age_seconds') return value === null ? null : 'any';
  if (type === 'boolean') return value === 1n;
  if (type === 'instant') return value;
  if (type === 'json' || (/^(old|new)_value$/.test(name) && JSON_FIELDS.includes(String(row.field))))
    return canonical(String(value));
  if (/^(old|new)_value$/.test(name) && FLAGS.includes(String(row.field))) return String(value === 1n);
  if (typeof value === 'string') return clean(value);
  return type === 'integer' ? String(value) : decimal(String(value));
}

function foundValue(row: Row, name: string, value: unknown): unknown {
  if (value === null || name === 'age_seconds') return value === null ? null : 'any';
  if (value instanceof Date) return value.toISOString();
  const isJson = JSON_COLUMNS.includes(name);
  if (isJson || (/^(old|new)_value$/.test(name) && JSON_FIELDS.includes(String(row.field))))
    return canonical(String(value));
  if (name === 'priority') return decimal(String(value));
  return value;
}

function clean(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/** A number as PostgreSQL's numeric writes it: all digits, no exponent. */
export function decimal(text: string): string {
  const [, sign = '', whole = '', decimals = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = whole + decimals;
  const point = whole.length + Number(exponent);
  const padded = digits.padStart(digits.length - Math.min(0, point), '0').padEnd(point, '0');
  const at = Math.max(0, point);
  const left = padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0';
  const right = padded.slice(at);
  const isZero = /^[0.]*$/.test(left + right);
  return `${isZero ? '' : sign}${left}${right === '' ? '' : `.${right}`}`;
}

/** One text for equal JSON: sorted keys, numbers without exponent and trailing zeros, texts as PostgreSQL can hold them. */
export function canonical(json: string): string {
  return write(
    JSON.parse(json, (_key, value: unknown, { source = '' }: { source?: string } = {}) =>
      typeof value === 'number' ? { number: trimmed(source) } : value,
    ),
  );
}

function trimmed(source: string): string {
  const shift = Number(/e([+-]?\d+)$/i.exec(source)?.[1] ?? 0);
  if (Math.abs(shift) > 100_000) return `beyond ${source}`;
  const text = decimal(source);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function write(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clean(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if ('number' in value && typeof value.number === 'string' && Object.keys(value).length === 1) return value.number;
  const members = Object.entries(value).map(([key, member]) => [clean(key), write(member)] as const);
  const last = new Map(members);
  return `{${[...last]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${member}`)
    .join(',')}}`;
}
