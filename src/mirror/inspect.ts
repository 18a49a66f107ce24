import type { MirrorTarget } from '../config/mirror.ts';
import { openMirrorSnapshot } from '../store/queries/mirror.ts';
import { connect } from './connect.ts';
import { assertUsable } from './schema.ts';
import { assertEarlier, FIND_STATE, readState, STATE } from './state.ts';

/** What a mirror says of itself; nothing of it is locked or changed. */
export type Inspection = {
  /** The version of the server. */
  readonly version: string;
  /** Undefined without TLS. */
  readonly tls: string | undefined;
  /** Undefined if the mirror was not filled yet. */
  readonly filled?: { readonly seq: number; readonly lag: number };
};

/** Rejects with a RunError if the mirror cannot be used, or not by the database at `path`. */
export async function inspectMirror(path: string, target: MirrorTarget): Promise<Inspection> {
  using session = await connect(target);
  const { tls } = session;
  // Awaited here, since the session ends with this function.
  return await session.transaction(async (tx) => {
    const version = await assertUsable(tx, target, { create: false });
    const [found] = await tx.queryAsIs(FIND_STATE, target.schema);
    const [row] = found === undefined ? [] : await tx.query(STATE);
    if (row === undefined) return { version, tls };
    const state = readState(row);
    using snapshot = openMirrorSnapshot(path);
    assertEarlier(state, snapshot);
    return { version, tls, filled: { seq: state.seq, lag: snapshot.lastSeq() - state.seq } };
  });
}
