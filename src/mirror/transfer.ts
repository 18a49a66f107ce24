import { hostname } from 'node:os';
import { DatabaseError } from '../errors.ts';
import { findPackage } from '../package.ts';
import type { MirrorSnapshot } from '../store/queries/mirror.ts';
import { type Batch, type MirrorState, PAGE, planBatch } from './batch.ts';
import type { Row, Transaction } from './connect.ts';
import { makeEqual, type SentPages } from './equal.ts';
import { rowsJson } from './row-json.ts';
import { FOLLOW } from './statements.ts';
import { LEAGUE_CHANGES } from './tables.ts';

export type Transfer = {
  /** Opens a state of the database. Called with the state row locked, so that it is never older than the mirror. */
  readonly openSnapshot: () => Promise<MirrorSnapshot>;
  readonly sent: SentPages;
};

/** How far the mirror is after a transaction, and the last change that the database had. */
export type Progress = { readonly seq: number; readonly lastSeq: number };

/** Locks the row of `mirror_state`, so that only one process writes, and only what follows on the row. */
async function lockState({ query }: Transaction): Promise<Row> {
  const [row] = await query(`SELECT *, mirrored_at::text AS written FROM "mirror_state" FOR UPDATE`);
  if (row !== undefined) return row;
  throw new DatabaseError('The mirror has lost the row of mirror_state.', { fix: 'run league-sync mirror rebuild' });
}

export function readState(row: Row): MirrorState {
  return {
    database: String(row.database),
    databasePath: String(row.database_path),
    seq: Number(row.seq),
    at: row.at instanceof Date ? row.at.toISOString() : null,
  };
}

/** Brings the mirror to a later state of the database: in this transaction, and up to the end of a run. */
export async function transferBatch(tx: Transaction, { openSnapshot, sent }: Transfer): Promise<Progress> {
  const row = await lockState(tx);
  const state = readState(row);
  // Another process has written since.
  if (row.written !== sent.mirroredAt) sent.forget();
  using snapshot = await openSnapshot();
  const lastSeq = snapshot.lastSeq();
  const database = { id: snapshot.databaseId(), path: snapshot.path, lastSeq, atCursor: snapshot.changedAt(state.seq) };
  const batch = planBatch(state, database, snapshot.endOfRun);
  await follow(tx, snapshot, batch);
  if (batch.isLast) await makeEqual(tx, snapshot, sent);
  const at = batch.last === 0 ? null : (snapshot.changedAt(batch.last) ?? null);
  const path = `${hostname()}:${snapshot.path}`;
  const [set] = await tx.query(SET_STATE, batch.last, at, path, findPackage().version);
  sent.mirroredAt = String(set?.written);
  return { seq: batch.last, lastSeq };
}

const SET_STATE = `UPDATE "mirror_state" SET seq = $1, at = $2, database_path = $3, program_version = $4,
  mirrored_at = clock_timestamp() RETURNING mirrored_at::text AS written`;

async function follow({ query }: Transaction, snapshot: MirrorSnapshot, { after, last }: Batch): Promise<void> {
  const { name, columns } = LEAGUE_CHANGES;
  const table = { name, columns: columns.map((column) => column.name), where: `seq <= ${last}` };
  for (let from: number | undefined = after + 1; from !== undefined && from <= last; ) {
    const { rows, next } = snapshot.page(table, from, PAGE);
    if (rows.length > 0) await query(FOLLOW, rowsJson(rows, columns, 'part'));
    from = next;
  }
}
