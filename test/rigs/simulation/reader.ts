import { existsSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type Row, withDatabase } from '../../support/database.ts';

export type Reader = ReturnType<typeof createReader>;

/** Functions of SQLite in the views for which it is the time of the world. */
const TIMED = ['strftime', 'unixepoch'];

/** Reads databases of a world. That of a life stays open meanwhile, since opening one costs more than reading it. */
export function createReader(now: () => number) {
  const sqlite = new Database(':memory:');
  const calls = new Map<string, Database.Statement>();
  const call = (sql: string): Database.Statement => {
    const known = calls.get(sql) ?? sqlite.prepare(sql).pluck();
    calls.set(sql, known);
    return known;
  };
  const open = (path: string): Database.Database => {
    const db = new Database(path, { readonly: true });
    for (const name of TIMED)
      db.function(name, { varargs: true, deterministic: true }, (...given) => {
        const values = given.map((value) => (value === 'now' ? new Date(now()).toISOString() : value));
        return call(`SELECT ${name}(${values.map(() => '?').join()})`).get(values);
      });
    return db;
  };
  let kept: Database.Database | undefined;
  const statements = new Map<string, Database.Statement<[], Row>>();
  const use = <T>(path: string, work: (db: Database.Database) => T): T =>
    kept?.name === path ? work(kept) : withDatabase(path, work, { readonly: true });
  const prepare = (db: Database.Database, sql: string): Database.Statement<[], Row> => {
    if (db !== kept) return db.prepare(sql);
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    rows: (path: string, sql: string): readonly Row[] =>
      existsSync(path) ? use(path, (db) => prepare(db, sql).all()) : [],
    /** Makes a file of what the database holds now. */
    copy: (path: string, target: string): void =>
      writeFileSync(
        target,
        use(path, (db) => db.serialize()),
      ),
    /** Keeps the database open. */
    keep: (path: string): void => {
      if (kept === undefined && existsSync(path)) kept = open(path);
    },
    /** A worker that ends has to be the last one that has it open. */
    release: (): void => {
      statements.clear();
      kept?.close();
      kept = undefined;
    },
  };
}
