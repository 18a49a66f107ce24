import { isObject } from '../../../src/league/json.ts';
import { MEMBERS } from '../model/field.ts';
import { listOf } from './version.ts';

/** The columns of `leagues` with data of the service. */
export const SENT = MEMBERS;
const FIELDS: ReadonlySet<string> = new Set(SENT);

/** A row of `leagues`: the data of the service as JSON, and the three timestamps. */
export type Stored = {
  readonly sent: string;
  readonly firstSeenAt: unknown;
  readonly changedAt: unknown;
  readonly removedAt: unknown;
};

export type Table = ReadonlyMap<string, Stored>;

/** Applies this version of the list to the table; returns the number of changes. */
export function applyVersion(
  table: Table,
  { version, at }: { readonly version: number; readonly at: string },
  size: number,
): { readonly table: Table; readonly changes: number } {
  const listed = new Map(listOf(version, size).map((league) => [String(league.league_id), columnsOf(league)]));
  const next = new Map(table);
  let changes = 0;
  const put = (id: string, stored: Stored): void => {
    next.set(id, stored);
    changes += 1;
  };
  for (const [id, sent] of listed) {
    const known = table.get(id);
    if (known?.sent === sent && known.removedAt === null) continue;
    put(id, { sent, firstSeenAt: known?.firstSeenAt ?? at, changedAt: at, removedAt: null });
  }
  for (const [id, known] of table) {
    if (known.removedAt === null && !listed.has(id)) put(id, { ...known, changedAt: at, removedAt: at });
  }
  return { table: next, changes };
}

/** A league as the service sends it, as the columns hold it. */
function columnsOf(league: Readonly<Record<string, unknown>>): string {
  const extra = Object.fromEntries(Object.entries(league).filter(([name]) => !FIELDS.has(name)));
  return cellsOf({ ...league, extra });
}

/** A league as the feed embeds it, as the columns hold it. */
export function cellsOf(league: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(SENT.map((name) => cellOf(league[name])));
}

function cellOf(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return Array.isArray(value) || isObject(value) ? JSON.stringify(value) : (value ?? null);
}

/** Describes the first few differing rows; undefined if there are none. */
export function compareTables(found: Table, expected: Table): string | undefined {
  const ids = [...new Set([...found.keys(), ...expected.keys()])];
  const other = ids.filter((id) => JSON.stringify(found.get(id)) !== JSON.stringify(expected.get(id)));
  if (other.length === 0) return undefined;
  const some = other
    .slice(0, 2)
    .map((id) => `${JSON.stringify(found.get(id))} in place of ${JSON.stringify(expected.get(id))}`);
  return `${other.length} of ${ids.length} rows, such as ${some.join('; ')}`;
}
