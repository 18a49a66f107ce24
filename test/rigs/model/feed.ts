import type { Row } from '../../support/database.ts';
import type { ModelBench } from './bench.ts';
import { byId, expectSame, feedCells, feedColumns } from './rows.ts';
import type { ModelChange } from './state.ts';

/** The table folded from the feed so far. */
export type Fold = { lastSeq: bigint; readonly table: Map<string, Row> };

export function createFold(): Fold {
  return { lastSeq: 0n, table: new Map() };
}

/** Compares the changes of a run with the expected ones, and the table folded from the feed with `leagues`. */
export function expectFeed(
  { rows }: ModelBench,
  fold: Fold,
  { runId, at, changes }: { readonly runId: bigint; readonly at: string; readonly changes: readonly ModelChange[] },
): void {
  const news = rows('SELECT * FROM league_changes WHERE seq > ? ORDER BY seq', fold.lastSeq);
  const found = news.map(({ run_id, at, league_id, kind, before, after }) => {
    const cells = {
      before: before === null ? null : feedCells(String(before)),
      after: after === null ? null : feedCells(String(after)),
    };
    return [league_id, { run_id, at, kind, ...cells }] as const;
  });
  const expected = changes.map(({ leagueId, ...change }) => [leagueId, { run_id: runId, at, ...change }] as const);
  expectSame(new Map(found), new Map(expected), 'the changes of the run');
  expectSame(found.length, expected.length, 'the number of changes of the run');
  for (const change of news) {
    expectSame(Number(change.seq) > Number(fold.lastSeq), true, 'a growing seq');
    applyChange(fold, change);
  }
  expectSame(fold.table, storedLeagues(rows), 'the feed, folded');
}

/** Folds the whole feed again: no change that was read before has been rewritten since. */
export function expectWholeFeed({ rows }: ModelBench, known: Fold): void {
  const fold = createFold();
  for (const change of rows('SELECT * FROM league_changes ORDER BY seq')) applyChange(fold, change);
  expectSame(fold, known, 'the feed, folded from its start');
}

function storedLeagues(rows: ModelBench['rows']): ReadonlyMap<string, Row> {
  const leagues = rows('SELECT * FROM leagues').map(({ content_hash: _, ...row }) => row);
  return byId(leagues);
}

/** Applies a change like a reader of the feed, by the contract only. */
function applyChange(fold: Fold, { seq, league_id, at, kind, after }: Row): void {
  const id = String(league_id);
  const row = fold.table.get(id);
  const update =
    kind === 'removed'
      ? { removed_at: at }
      : { ...feedColumns(String(after)), first_seen_at: row?.first_seen_at ?? at, removed_at: null };
  fold.table.set(id, { ...row, ...update, changed_at: at });
  fold.lastSeq = BigInt(String(seq));
}
