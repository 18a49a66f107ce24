import { and, eq, lt, max } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { isSameValue } from '../../league/league-json.ts';
import { PLAYER_MEMBERS, type Player } from '../../league/schemas.ts';
import { logins, players } from '../schema.ts';

export function createLoginRows(db: BetterSQLite3Database) {
  return {
    add: (login: Omit<typeof logins.$inferInsert, 'id'>): void => {
      db.insert(logins).values(login).run();
    },
    /** Deletes logins before a timestamp; returns their number. Keeps the newest login, so that ids are not reused. */
    prune: (before: string): number => {
      const newest = db.select({ id: max(logins.id) }).from(logins);
      return db
        .delete(logins)
        .where(and(lt(logins.at, before), lt(logins.id, newest)))
        .run().changes;
    },
  };
}

export function createPlayerRows(db: BetterSQLite3Database) {
  return {
    upsert: (player: Player, at: string): 'added' | 'changed' | 'unchanged' => {
      const isThis = eq(players.player_id, player.player_id);
      const stored = db.select().from(players).where(isThis).get();
      const isSame =
        stored && PLAYER_MEMBERS.every((field) => isSameValue(field, stored[field.name], player[field.name]));
      if (isSame) return 'unchanged';
      const row = { ...player, changed_at: at };
      db.insert(players)
        .values({ ...row, first_seen_at: at })
        .onConflictDoUpdate({ target: players.player_id, set: row })
        .run();
      return stored === undefined ? 'added' : 'changed';
    },
  };
}
