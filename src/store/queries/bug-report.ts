import { withReader } from '../connection.ts';
import { sizeOf } from '../database-file.ts';
import { schemaVersion } from '../migrate.ts';

const NEWEST = 20;
const MAX_DRIFT = 200;
const COUNTED = ['leagues', 'league_changes', 'runs', 'logins', 'rejected_leagues', 'held_removals', 'drift'];

/** What a bug report needs of a database of any schema. Throws a DatabaseError. */
export function readForReport(path: string) {
  return withReader(path, (db) => {
    const rows = (sql: string) => db.prepare<[], Readonly<Record<string, unknown>>>(sql).all();
    // It is made of the credentials.
    const newest = (table: string) =>
      rows(`SELECT * FROM ${table} ORDER BY id DESC LIMIT ${NEWEST}`).map(({ fingerprint: _, ...row }) => row);
    const count = (table: string) => [table, rows(`SELECT count(*) AS count FROM ${table}`)[0]?.count] as const;
    return {
      sqlite: rows('SELECT sqlite_version() AS version')[0]?.version,
      schema: schemaVersion(db),
      runs: newest('runs'),
      logins: newest('logins'),
      drift: rows(`SELECT * FROM drift ORDER BY first_seen_at DESC LIMIT ${MAX_DRIFT}`),
      sizes: { bytes: sizeOf(path), wal_bytes: sizeOf(`${path}-wal`), rows: Object.fromEntries(COUNTED.map(count)) },
    };
  });
}
