import { RefusedError } from '../errors.ts';
import type { Row } from './connect.ts';

/** Finds the table of the state in a schema. */
export const FIND_STATE = `SELECT FROM pg_class WHERE relname = 'mirror_state'
  AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`;

/** The row of the state, and of which database the mirror is. */
export const STATE = `SELECT state.*,
  (SELECT max(database_path) FROM "mirror_migrations") AS database_path FROM "mirror_state" AS state`;

/** The row of `mirror_state`. */
export type MirrorState = {
  readonly database: string;
  readonly databasePath: string;
  readonly seq: number;
  readonly at: string | null;
};

export function readState(row: Row): MirrorState {
  return {
    database: String(row.database),
    databasePath: String(row.database_path),
    seq: Number(row.seq),
    at: row.at instanceof Date ? row.at.toISOString() : null,
  };
}

/** What the database says: its id, its last change, and when the change was stored that the mirror ends with. */
export type DatabaseState = {
  readonly id: string;
  readonly path: string;
  readonly lastSeq: number;
  readonly atCursor: string | undefined;
};

export function assertSameDatabase(
  state: Pick<MirrorState, 'database' | 'databasePath'>,
  { id, path }: Pick<DatabaseState, 'id' | 'path'>,
): void {
  if (state.database === id) return;
  throw new RefusedError(
    `The mirror belongs to another database (${state.database} at ${state.databasePath}), not to this one (${id} at ${path}).`,
    {
      fix: 'name another schema with LEAGUE_SYNC_POSTGRES_SCHEMA, or, if that database will never be used again, drop the schema',
    },
  );
}

export function assertEarlier({ seq, at }: MirrorState, { path, lastSeq, atCursor }: DatabaseState): void {
  if (seq === 0 || atCursor === at) return;
  const what =
    seq > lastSeq
      ? `The mirror is ahead of ${path}: it has change ${seq}, and the file ends with ${lastSeq}`
      : `The mirror and ${path} differ: change ${seq} is not the same in both`;
  throw new RefusedError(`${what}. The file was probably restored from a backup.`, {
    fix: 'rebuild it with league-sync mirror rebuild',
  });
}
