import { yieldToEventLoop } from '../race-abort.ts';
import type { MirrorSnapshot } from '../store/queries/mirror.ts';
import { PAGE } from './batch.ts';
import type { Transaction } from './connect.ts';
import { rowsJson } from './row-json.ts';
import { deleteStatement, upsertStatement } from './statements.ts';
import { IS_MIRRORED, OTHER_TABLES, type Table } from './tables.ts';

/** Which rows of `runs` are compared: recent ones are enough after all of them were compared on this connection. */
export type RunsToCompare = 'all' | 'recent';

/** A run changes until it is finished. After that it hardly ever changes, and only if it is recent. */
const RECENT_RUNS = 100;

/** Makes the tables besides the feed and `leagues` equal to the database. */
export async function makeEqual(tx: Transaction, snapshot: MirrorSnapshot, runs: RunsToCompare): Promise<void> {
  for (const table of OTHER_TABLES) {
    const from = table.name === 'runs' && runs === 'recent' ? await firstRecentRun(tx) : 1;
    await makeTableEqual(tx, snapshot, table, from);
  }
}

async function makeTableEqual(tx: Transaction, snapshot: MirrorSnapshot, table: Table, first: number): Promise<void> {
  const { name, columns } = table;
  const where = name === 'data_dictionary' ? { where: IS_MIRRORED } : {};
  const source = { name, columns: columns.map((column) => column.name), ...where };
  for (let from: number | undefined = first; from !== undefined; ) {
    const { rows, next } = snapshot.page(source, from, PAGE);
    if (rows.length > 0) await tx.query(upsertStatement(table), rowsJson(rows, columns, 'string'));
    from = next;
  }
  // The mirror has every row of the database now, so it has more rows only if some of them were deleted.
  const [found] = await tx.query(`SELECT count(*) FROM "${name}"`);
  if (Number(found?.count) !== snapshot.count(source)) await deleteOthers(tx, snapshot, table, source);
}

async function firstRecentRun({ query }: Transaction): Promise<number> {
  const [row] = await query(`SELECT least(max(id) - ${RECENT_RUNS},
    (SELECT min(id) FROM "runs" WHERE outcome = 'running')) AS first FROM "runs"`);
  return Math.max(1, Number(row?.first ?? 1));
}

type Source = Parameters<MirrorSnapshot['page']>[0];

async function deleteOthers(tx: Transaction, snapshot: MirrorSnapshot, table: Table, source: Source): Promise<void> {
  const keys = table.columns.filter(({ name }) => table.key.includes(name));
  const rows = [];
  for (let from: number | undefined = 1; from !== undefined; ) {
    const page = snapshot.page({ ...source, columns: table.key }, from, { limit: 5_000 });
    rows.push(...page.rows);
    from = page.next;
    await yieldToEventLoop();
  }
  await tx.query(deleteStatement(table), rowsJson(rows, keys, 'string'));
}
