import { RefusedError } from '../errors.ts';
import type { MirrorSnapshot } from '../store/queries/mirror.ts';
import type { Row } from './connect.ts';
import { OWN_SCHEMA } from './statements.ts';

/** Finds the table of the state. */
export const FIND_STATE = `SELECT FROM pg_class WHERE relname = 'mirror_state' AND relnamespace = ${OWN_SCHEMA}`;

/** The row of the state, and of which database the mirror is. */
export const STATE = `SELECT state.*,
  (SELECT max(database_path) FROM "mirror_migrations") AS database_path FROM "mirror_state" AS state`;

/** What to do about a mirror that cannot be brought up to date. */
export const REBUILD = { fix: 'rebuild it with league-sync mirror rebuild' } as const;

export type MirrorState = ReturnType<typeof readState>;

/** Reads what `STATE` has selected. Throws a RefusedError if there was nothing. */
export function readState(row: Row | undefined) {
  if (row === undefined) throw new RefusedError('The mirror has lost the row of mirror_state.', REBUILD);
  return {
    database: String(row.database),
    databasePath: String(row.database_path),
    seq: Number(row.seq),
    at: row.at instanceof Date ? row.at.toISOString() : null,
  };
}

/** The mirror must be of the database with this id, which is at `path`. */
export function assertSameDatabase(
  { database, databasePath }: MirrorState,
  { id, path }: { readonly id: string; readonly path: string },
): void {
  if (database === id) return;
  throw new RefusedError(
    `The mirror belongs to another database (${database} at ${databasePath}), not to this one (${id} at ${path}).`,
    {
      fix: 'name another schema with LEAGUE_SYNC_POSTGRES_SCHEMA, or, if that database will never be used again, drop the schema',
    },
  );
}

type Snapshot = Pick<MirrorSnapshot, 'path' | 'databaseId' | 'lastSeq' | 'changedAt'>;

/** The mirror must be an earlier state of this database, or the same. Throws a RefusedError. */
export function assertEarlier(state: MirrorState, snapshot: Snapshot): void {
  const { path } = snapshot;
  const { seq, at } = state;
  assertSameDatabase(state, { id: snapshot.databaseId(), path });
  if (seq === 0 || snapshot.changedAt(seq) === at) return;
  const lastSeq = snapshot.lastSeq();
  const what =
    seq > lastSeq
      ? `The mirror is ahead of ${path}: it has change ${seq}, and the file ends with ${lastSeq}`
      : `The mirror and ${path} differ: change ${seq} is not the same in both`;
  throw new RefusedError(`${what}. The file was probably restored from a backup.`, REBUILD);
}
