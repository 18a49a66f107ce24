import type Database from 'better-sqlite3';

/** Which state of which database a file holds. */
export type FileState = {
  readonly madeAt: string;
  /** Null in a file of 0.1.0. */
  readonly id: string | null;
  readonly lastSeq: number;
  readonly newestPoll: { readonly run_id: number; readonly finished_at: string; readonly outcome: string } | null;
};

const NEWEST_POLL = `SELECT id AS run_id, finished_at, outcome FROM runs
  WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held') ORDER BY id DESC LIMIT 1`;

/** Of a file of any schema version. */
export function readFileState(db: Database.Database): FileState {
  const first = <T>(sql: string): T | undefined => db.prepare<[], T>(sql).get();
  const hasId = first("SELECT 1 FROM sqlite_schema WHERE name = 'database_identity'") !== undefined;
  const made = first<{ at: string }>('SELECT applied_at AS at FROM schema_migrations ORDER BY version LIMIT 1');
  return {
    madeAt: made?.at ?? '',
    id: (hasId && first<{ id: string }>('SELECT id FROM database_identity')?.id) || null,
    lastSeq: first<{ seq: number | null }>('SELECT max(seq) AS seq FROM league_changes')?.seq ?? 0,
    newestPoll: first<NonNullable<FileState['newestPoll']>>(NEWEST_POLL) ?? null,
  };
}

/** Whether both files have the same database's history as far as the shorter one goes, judged by its last change. */
export function sharesHistory(one: Database.Database, other: Database.Database): boolean {
  const [a, b] = [readFileState(one), readFileState(other)];
  if (a.madeAt !== b.madeAt || (a.id !== null && b.id !== null && a.id !== b.id)) return false;
  const seq = Math.min(a.lastSeq, b.lastSeq);
  const read = (db: Database.Database) => db.prepare('SELECT * FROM league_changes WHERE seq = ?').raw().get(seq);
  return JSON.stringify(read(one)) === JSON.stringify(read(other));
}

/** What SQLite itself finds wrong, in its own words; empty if the file is sound. */
export function findUnsound(db: Database.Database): readonly string[] {
  const found = db.prepare<[], string>('PRAGMA integrity_check(3)').pluck().all();
  const strays = db.prepare<[], { table: string }>('PRAGMA foreign_key_check').all();
  return [...found.filter((line) => line !== 'ok'), ...strays.map(({ table }) => `a foreign key of ${table}`)];
}
