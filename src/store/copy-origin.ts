import { existsSync, lstatSync } from 'node:fs';
import { sidecarFiles } from '../config/paths.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { withOwnReader, withReader } from './connection.ts';
import { explainErrors } from './database-error.ts';
import { APPLICATION_ID, inodeOf, readHeader } from './database-file.ts';

/**
 * `earlier`: a copy of the current or an earlier state of the database. `diverged`: a copy with data that the database
 * lacks: the copy was written to, or the database was restored from an older backup. `foreign`: any other file, or a
 * copy that may be in use.
 */
export type CopyState = 'earlier' | 'diverged' | 'foreign';

/** Compares the file `target` with the database at `path`. A damaged `target` is `foreign`. Throws a DatabaseError. */
export function compareCopy(target: string, path: string): CopyState {
  const inode = explainErrors(target, () => inodeOf(target), 'copy');
  const isSame = explainErrors(path, () => inode === inodeOf(path));
  if (isSame || lstatSync(target, { throwIfNoEntry: false })?.isFile() !== true) return 'foreign';
  const header = readHeader(target);
  // Copies are not in WAL mode, and opening a database in WAL mode would create files beside it.
  if (header?.applicationId !== APPLICATION_ID || header.isWal || sidecarFiles(target).some((file) => existsSync(file)))
    return 'foreign';
  const copied = tryOrUndefined(() => withReader(target, (db) => db.prepare<[], object>(STATE).get()));
  if (copied === undefined) return 'foreign';
  return withOwnReader(path, (db) => db.prepare<[object], CopyState>(COMPARE).pluck().get(copied)) ?? 'foreign';
}

/** The creation time identifies the database; the newest run and the newest change identify its state. */
const STATE = `SELECT (SELECT applied_at FROM schema_migrations ORDER BY version LIMIT 1) AS madeAt,
    coalesce(run.id, 0) AS lastRun, run.started_at AS lastRunAt,
    coalesce(change.seq, 0) AS lastChange, change.at AS lastChangeAt
  FROM (SELECT 1) LEFT JOIN (SELECT id, started_at FROM runs ORDER BY id DESC LIMIT 1) AS run
    LEFT JOIN (SELECT seq, at FROM league_changes ORDER BY seq DESC LIMIT 1) AS change`;

/** The copy's last run may have been pruned from the database in the meantime; changes are never pruned. */
const COMPARE = `SELECT CASE
    WHEN (SELECT applied_at FROM schema_migrations ORDER BY version LIMIT 1) IS NOT @madeAt THEN 'foreign'
    WHEN @lastRun <= (SELECT coalesce(max(id), 0) FROM runs)
      AND coalesce((SELECT started_at FROM runs WHERE id = @lastRun), @lastRunAt) IS @lastRunAt
      AND (SELECT at FROM league_changes WHERE seq = @lastChange) IS @lastChangeAt THEN 'earlier'
    ELSE 'diverged' END`;
