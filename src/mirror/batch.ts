import { RefusedError } from '../errors.ts';
import { findPackage } from '../package.ts';
import type { MirrorSnapshot } from '../store/queries/mirror.ts';
import type { Transaction } from './connect.ts';
import { PAGE, type RunsToCompare, reconcileTables } from './reconcile.ts';
import { rowsJson } from './row-json.ts';
import { assertEarlier, assertSameDatabase, type DatabaseState, type MirrorState, readState, STATE } from './state.ts';
import { FOLLOW } from './statements.ts';
import { FITS_INDEX, LEAGUE_CHANGES, LEAGUES } from './tables.ts';

export type Batch = { readonly after: number; readonly last: number; readonly isLast: boolean };

/** Changes in one transaction; up to the end of the run that has the last of them, however many it has. */
export const BATCH_CHANGES = 5_000;
/**
 * The changes that the mirror takes next: they end with a run. `findEnd` finds the last of them, from the cursor.
 * Throws a RefusedError if the mirror is not one of this database.
 */
export function planBatch(state: MirrorState, database: DatabaseState, findEnd: (seq: number) => number): Batch {
  assertSameDatabase(state, database);
  assertEarlier(state, database);
  const last = database.lastSeq === state.seq ? state.seq : findEnd(state.seq);
  return { after: state.seq, last, isLast: last === database.lastSeq };
}

export type Transfer = {
  /** Opens a state of the database. Called with the state row locked, so that it is never older than the mirror. */
  readonly openSnapshot: () => Promise<MirrorSnapshot>;
  readonly runs: RunsToCompare;
  /** The least number of changes in a transaction, which ends with a run; smaller in tests. */
  readonly batchChanges?: number;
};

/** How far the mirror is after a transaction, and the last change that the database had. */
export type Progress = { readonly seq: number; readonly lastSeq: number };

/** Brings the mirror to a later state of the database: in this transaction, and up to the end of a run. */
export async function transferBatch(
  tx: Transaction,
  { openSnapshot, runs, batchChanges = BATCH_CHANGES }: Transfer,
): Promise<Progress> {
  const state = await lockState(tx);
  using snapshot = await openSnapshot();
  const database = describeDatabase(snapshot, state);
  const batch = planBatch(state, database, (seq) => snapshot.endOfRun(seq, batchChanges));
  await follow(tx, snapshot, batch);
  if (batch.isLast && runs === 'all') await assertComplete(tx, snapshot);
  if (batch.isLast) await reconcileTables(tx, snapshot, runs);
  const at = batch.last === 0 ? null : (snapshot.changedAt(batch.last) ?? null);
  await tx.query(SET_STATE, batch.last, at, findPackage().version);
  return { seq: batch.last, lastSeq: database.lastSeq };
}

/** The feed is only appended to, so nothing else would notice that rows of it were added or deleted in the mirror. */
async function assertComplete({ query }: Transaction, snapshot: MirrorSnapshot): Promise<void> {
  for (const { name } of [LEAGUE_CHANGES, LEAGUES]) {
    const [row] = await query(`SELECT count(*) FROM "${name}"`);
    const [found, expected] = [Number(row?.count), snapshot.count({ name, where: FITS_INDEX })];
    if (found === expected) continue;
    throw new RefusedError(`The mirror has ${found} rows in ${name}, and ${snapshot.path} has ${expected}.`, {
      fix: 'rebuild it with league-sync mirror rebuild',
    });
  }
}

/** Locks the row of `mirror_state`, so that only one process writes, and only what follows on the row. */
async function lockState({ query }: Transaction): Promise<MirrorState> {
  const [row] = await query(`${STATE} FOR UPDATE`);
  if (row !== undefined) return readState(row);
  throw new RefusedError('The mirror has lost the row of mirror_state.', {
    fix: 'rebuild it with league-sync mirror rebuild',
  });
}

export function describeDatabase(snapshot: MirrorSnapshot, { seq }: MirrorState): DatabaseState {
  const { path } = snapshot;
  return { id: snapshot.databaseId(), path, lastSeq: snapshot.lastSeq(), atCursor: snapshot.changedAt(seq) };
}

const SET_STATE = `UPDATE "mirror_state" SET seq = $1, at = $2, program_version = $3, mirrored_at = clock_timestamp()`;

async function follow({ query }: Transaction, snapshot: MirrorSnapshot, { after, last }: Batch): Promise<void> {
  const { name, columns } = LEAGUE_CHANGES;
  const table = { name, columns: columns.map((column) => column.name), where: `seq <= ${last} AND ${FITS_INDEX}` };
  for (let from: number | undefined = after + 1; from !== undefined && from <= last; ) {
    const { rows, next } = snapshot.page(table, from, PAGE);
    if (rows.length > 0) await query(FOLLOW, rowsJson(rows, columns, 'part'));
    from = next;
  }
}
