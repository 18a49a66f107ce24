import { and, lt, max } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { logins } from '../schema.ts';

export type LoginRow = Omit<typeof logins.$inferInsert, 'id'>;

export function createLoginRows(db: BetterSQLite3Database) {
  return {
    add: (login: LoginRow): void => {
      db.insert(logins).values(login).run();
    },
    /** Deletes logins before the instant, but never the newest, so that ids are never given twice. */
    prune: (before: string): number => {
      const newest = db.select({ id: max(logins.id) }).from(logins);
      return db
        .delete(logins)
        .where(and(lt(logins.at, before), lt(logins.id, newest)))
        .run().changes;
    },
  };
}
