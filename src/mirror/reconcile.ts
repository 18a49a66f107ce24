import type { MirrorSnapshot } from '../store/queries/mirror.ts';
import type { Transaction } from './connect.ts';
import { rowsJson } from './row-json.ts';
import { deleteStatement, upsertStatement } from './statements.ts';
import { hasId, mirroredRows, OTHER_TABLES, type Table } from './tables.ts';

/** Approximate limit of one statement: it is built synchronously and held in memory several times. */
export const PAGE = { limit: 500, maxChars: 2_000_000 } as const;

/** Which rows of `runs` are compared: recent ones are enough after all of them were compared on this connection. */
export type RunsToCompare = 'all' | 'recent';

/** A run changes until it is finished. After that it hardly ever changes, and only if it is recent. */
const RECENT_RUNS = 100;

/** Makes the tables besides the feed and `leagues` equal to the database. */
export async function reconcileTables(tx: Transaction, snapshot: MirrorSnapshot, runs: RunsToCompare): Promise<void> {
  for (const table of OTHER_TABLES) {
    const from = table.name === 'runs' && runs === 'recent' ? await firstRecentRun(tx) : 1;
    await reconcileTable(tx, snapshot, table, from);
  }
}

async function reconcileTable(tx: Transaction, snapshot: MirrorSnapshot, table: Table, first: number): Promise<void> {
  const { name, columns } = table;
  const source = { name, columns: columns.map((column) => column.name), where: mirroredRows(table) };
  for (let from: number | undefined = first; from !== undefined; ) {
    const { rows, next } = snapshot.page(source, from, PAGE);
    if (rows.length > 0) await tx.query(upsertStatement(table), rowsJson(rows, columns, 'string'));
    from = next;
  }
  // The mirror has every row of the database now, so it has more rows only if some of them were deleted.
  const [found] = await tx.query(`SELECT count(*) FROM "${name}"`);
  if (Number(found?.count) !== snapshot.count(source)) await deleteMissing(tx, snapshot, table, source);
}

async function firstRecentRun({ query }: Transaction): Promise<number> {
  const [row] = await query(`SELECT least(max(id) - ${RECENT_RUNS},
    (SELECT min(id) FROM "runs" WHERE outcome = 'running')) AS first FROM "runs"`);
  return Math.max(1, Number(row?.first ?? 1));
}

type Source = Parameters<MirrorSnapshot['page']>[0];
type Rows = ReturnType<MirrorSnapshot['page']>['rows'];

const KEYS_AT_ONCE = 5_000;

async function deleteMissing(tx: Transaction, snapshot: MirrorSnapshot, table: Table, source: Source): Promise<void> {
  const keys = table.columns.filter(({ name }) => table.key.includes(name));
  const others = { ...source, columns: table.key };
  const remove = (rows: Rows, ...range: readonly (number | null)[]) =>
    tx.query(deleteStatement(table), rowsJson(rows, keys, 'string'), ...range);
  // At most one row for each league, or few: all keys fit one statement.
  if (!hasId(table)) {
    await remove(snapshot.page(others, 1, { limit: Number.MAX_SAFE_INTEGER }).rows);
    return;
  }
  // The last page is empty: behind it there is nothing to keep.
  for (let from: number | undefined = 1; from !== undefined; ) {
    const { rows, next } = snapshot.page(others, from, { limit: KEYS_AT_ONCE });
    await remove(rows, from, next ?? null);
    from = next;
  }
}
