import type { MirrorSnapshot } from '../store/queries/mirror.ts';
import type { Transaction } from './connect.ts';
import { rowsJson } from './row-json.ts';
import { deleteStatement, upsertStatement } from './statements.ts';
import { hasId, OTHER_TABLES, sourceOf, type Table } from './tables.ts';

/** Approximate limit of one statement: it is built synchronously and held in memory several times. */
export const PAGE = { limit: 500, maxChars: 2_000_000 } as const;

/** Which rows of `runs` are compared: recent ones are enough once this worker has compared all of them. */
export type RunsToCompare = 'all' | 'recent';

/** A run changes until it is finished. After that it hardly ever changes, and only if it is recent. */
const RECENT_RUNS = 100;

/** Makes the tables besides the feed and `leagues` equal to the database. */
export async function reconcileTables(tx: Transaction, snapshot: MirrorSnapshot, runs: RunsToCompare): Promise<void> {
  for (const table of OTHER_TABLES) {
    const source = sourceOf(table);
    const first = table.name === 'runs' && runs === 'recent' ? await firstRecentRun(tx) : 1;
    for (const { rows } of readPages(snapshot, source, first, PAGE))
      if (rows.length > 0) await tx.query(upsertStatement(table), rowsJson(rows, table.columns, 'string'));
    // The mirror has every row of the database now, so it has more rows only if some of them were deleted.
    const [found] = await tx.query(`SELECT count(*) FROM "${table.name}"`);
    if (Number(found?.count) !== snapshot.count(source)) await deleteMissing(tx, snapshot, table);
  }
}

type PageArguments = Parameters<MirrorSnapshot['page']>;

/** Rows of a table from a rowid on, by pages of which the last is empty. `next`: where the next one begins. */
export function* readPages(
  snapshot: MirrorSnapshot,
  source: PageArguments[0],
  first: number,
  limits: PageArguments[2],
) {
  for (let from: number | undefined = first; from !== undefined; ) {
    const page = snapshot.page(source, from, limits);
    yield page;
    from = page.next;
  }
}

async function firstRecentRun({ query }: Transaction): Promise<number> {
  const [row] = await query(`SELECT least(max(id) - ${RECENT_RUNS},
    (SELECT min(id) FROM "runs" WHERE outcome = 'running')) AS first FROM "runs"`);
  return Math.max(1, Number(row?.first ?? 1));
}

const KEYS_AT_ONCE = 5_000;

async function deleteMissing(tx: Transaction, snapshot: MirrorSnapshot, table: Table): Promise<void> {
  const keys = table.columns.filter(({ name }) => table.key.includes(name));
  // Without ids, there is at most one row for each league, or few: all keys fit one statement.
  const limit = hasId(table) ? KEYS_AT_ONCE : Number.MAX_SAFE_INTEGER;
  for (let from: number | undefined = 1; from !== undefined; ) {
    // The last page is empty: behind it there is nothing to keep.
    const { rows, next } = snapshot.page({ ...sourceOf(table), columns: table.key }, from, { limit });
    const range = hasId(table) ? [from, next ?? null] : [];
    await tx.query(deleteStatement(table), rowsJson(rows, keys, 'string'), ...range);
    from = hasId(table) ? next : undefined;
  }
}
