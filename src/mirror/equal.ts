import { hash } from 'node:crypto';
import { yieldToEventLoop } from '../race-abort.ts';
import type { MirrorSnapshot } from '../store/queries/mirror.ts';
import { PAGE } from './batch.ts';
import type { Transaction } from './connect.ts';
import { rowsJson } from './row-json.ts';
import { deleteStatement, upsertStatement } from './statements.ts';
import { IS_MIRRORED, OTHER_TABLES, type Table } from './tables.ts';

/** What the mirror is known to have, so that it need not be sent again. */
export type SentPages = {
  /** When the session with this memory last wrote the mirror, as the server writes it. */
  mirroredAt: string | null;
  readonly hashes: Map<string, string>;
  /** When all runs were last compared, on the monotonic clock (ms); undefined if they have to be. */
  runsAt: number | undefined;
  readonly forget: () => void;
};

export function createSentPages(): SentPages {
  const hashes = new Map<string, string>();
  return {
    mirroredAt: null,
    hashes,
    runsAt: undefined,
    forget() {
      hashes.clear();
      this.runsAt = undefined;
    },
  };
}

/** Runs change until they are finished. A later one changes only if it is recent, or nearly never. */
const RECENT_RUNS = 100;
const COMPARE_RUNS_MS = 3_600_000;

/** Makes the tables besides the feed and `leagues` equal to the database. */
export async function makeEqual(tx: Transaction, snapshot: MirrorSnapshot, sent: SentPages): Promise<void> {
  for (const table of OTHER_TABLES) await makeTableEqual(tx, snapshot, table, sent);
}

async function makeTableEqual(tx: Transaction, snapshot: MirrorSnapshot, table: Table, sent: SentPages): Promise<void> {
  const { name, columns } = table;
  const where = name === 'data_dictionary' ? { where: IS_MIRRORED } : {};
  const source = { name, columns: columns.map((column) => column.name), ...where };
  const begin = name === 'runs' ? await firstRunToCompare(tx, sent) : 1;
  for (let from: number | undefined = begin; from !== undefined; ) {
    const { rows, next } = snapshot.page(source, from, PAGE);
    if (rows.length > 0)
      await sendPage(tx, table, rowsJson(rows, columns, 'string'), { sent, place: `${name} ${from}` });
    from = next;
  }
  // The mirror has every row of the database now, so it has more rows only if some of them were deleted.
  const [found] = await tx.query(`SELECT count(*) FROM "${name}"`);
  if (Number(found?.count) === snapshot.count(source)) return;
  await deleteOthers(tx, snapshot, table, source);
  // What was deleted may come back as it was.
  sent.hashes.clear();
}

type Place = { readonly sent: SentPages; readonly place: string };

async function sendPage(tx: Transaction, table: Table, json: string, { sent, place }: Place): Promise<void> {
  const digest = hash('sha256', json, 'base64');
  if (sent.hashes.get(place) === digest) return yieldToEventLoop();
  await tx.query(upsertStatement(table), json);
  if (table.name !== 'runs') sent.hashes.set(place, digest);
}

async function firstRunToCompare({ query }: Transaction, sent: SentPages): Promise<number> {
  const now = performance.now();
  if (sent.runsAt === undefined || now - sent.runsAt > COMPARE_RUNS_MS) {
    sent.runsAt = now;
    return 1;
  }
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
