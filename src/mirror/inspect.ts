import type { MirrorTarget } from '../config/mirror.ts';
import { openMirrorSnapshot } from '../store/queries/mirror.ts';
import { describeDatabase } from './batch.ts';
import { connect, type Row, type Transaction } from './connect.ts';
import { assertUsable } from './schema.ts';
import { assertEarlier, assertSameDatabase, FIND_STATE, readState, STATE } from './state.ts';

/** What a mirror says of itself; nothing of it is locked or changed. */
export type Inspection = {
  /** The version of the server. */
  readonly version: string;
  /** Undefined without TLS. */
  readonly tls: string | undefined;
  /** Undefined if the mirror was not filled yet. */
  readonly filled: { readonly seq: number; readonly lag: number; readonly mirroredAt: string | null } | undefined;
};

/** Rejects with a RunError if the mirror cannot be used, or not by the database at `path`. */
export async function inspectMirror(path: string, target: MirrorTarget): Promise<Inspection> {
  using session = await connect(target);
  const { tls } = session;
  // Awaited here, since the session ends with this function.
  return await session.transaction(async (tx) => {
    const version = await assertUsable(tx, target, { create: false });
    const [found] = await tx.queryAsIs(FIND_STATE, target.schema);
    return { version, tls, filled: found && (await compare(tx, path)) };
  });
}

async function compare(tx: Transaction, path: string): Promise<Inspection['filled']> {
  const row: Row | undefined = (await tx.query(STATE))[0];
  if (row === undefined) return undefined;
  const state = readState(row);
  using snapshot = openMirrorSnapshot(path);
  const database = describeDatabase(snapshot, state);
  assertSameDatabase(state, database);
  assertEarlier(state, database);
  const mirroredAt = row.mirrored_at instanceof Date ? row.mirrored_at.toISOString() : null;
  return { seq: state.seq, lag: database.lastSeq - state.seq, mirroredAt };
}
