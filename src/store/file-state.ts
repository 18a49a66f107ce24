import type Database from 'better-sqlite3';

/** Which state of which database a file of any schema version holds. */
export type FileState = ReturnType<typeof readFileState>;

type Poll = { readonly run_id: number; readonly finished_at: string; readonly outcome: string };

const NEWEST_POLL = `SELECT id AS run_id, finished_at, outcome FROM runs
  WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held') ORDER BY id DESC LIMIT 1`;

export function readFileState(db: Database.Database) {
  const value = (sql: string) => db.prepare<[], string | number | null>(sql).pluck().get() ?? null;
  const hasId = value("SELECT 1 FROM sqlite_schema WHERE name = 'database_identity'") !== null;
  return {
    madeAt: value('SELECT applied_at FROM schema_migrations ORDER BY version LIMIT 1'),
    /** Null in a file of 0.1.0. */
    id: hasId ? value('SELECT id FROM database_identity') : null,
    lastSeq: Number(value('SELECT max(seq) FROM league_changes')),
    newestPoll: db.prepare<[], Poll>(NEWEST_POLL).get() ?? null,
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
