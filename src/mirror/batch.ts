import { RefusedError } from '../errors.ts';
import type { Row } from './connect.ts';

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

export type Batch = { readonly after: number; readonly last: number; readonly isLast: boolean };

/** Changes in one transaction; up to the end of the run that has the last of them, however many it has. */
export const BATCH_CHANGES = 5_000;
/** What a statement carries at most, roughly: it is held in memory a few times, and made between two awaits. */
export const PAGE = { limit: 500, maxChars: 2_000_000 } as const;

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
