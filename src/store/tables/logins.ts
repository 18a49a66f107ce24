import { sql } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { logins } from '../schema.ts';

export type LoginRow = Omit<typeof logins.$inferInsert, 'id'>;

export type LoginRows = {
  readonly add: (login: LoginRow) => void;
  /** Deletes logins before the instant, but never the newest, so that ids are never given twice. */
  readonly prune: (before: string) => number;
};

export function createLoginRows(db: BetterSQLite3Database): LoginRows {
  return {
    add: (login) => {
      db.insert(logins).values(login).run();
    },
    prune: (before) =>
      db.run(sql`DELETE FROM logins WHERE at < ${before} AND id NOT IN (SELECT max(id) FROM logins)`).changes,
  };
}
