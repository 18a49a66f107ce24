import type { MirrorTarget } from '../config/mirror.ts';
import { openMirrorSnapshot } from '../store/queries/mirror.ts';
import { connect } from './connect.ts';
import { assertUsable } from './schema.ts';
import { assertEarlier, FIND_STATE, readState, STATE } from './state.ts';

export type Inspection = Awaited<ReturnType<typeof inspectMirror>>;

/**
 * The version of the server, how it is reached (`tls`, undefined without TLS), and how far the mirror is, unless it was
 * not filled yet. Locks and changes nothing. Rejects with a RunError if the mirror cannot be used, or not by this database.
 */
export async function inspectMirror(path: string, target: MirrorTarget) {
  using session = await connect(target);
  const { tls } = session;
  // Awaited here, since the session ends with this function.
  return await session.transaction(async (tx) => {
    const version = await assertUsable(tx, target, { create: false });
    const [found] = await tx.queryAsIs(FIND_STATE);
    const [row] = found === undefined ? [] : await tx.query(STATE);
    if (row === undefined) return { version, tls };
    const state = readState(row);
    using snapshot = openMirrorSnapshot(path);
    assertEarlier(state, snapshot);
    return { version, tls, filled: { seq: state.seq, lag: snapshot.lastSeq() - state.seq } };
  });
}
