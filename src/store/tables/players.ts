import { eq } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { PLAYER_MEMBERS, type Player } from '../../interface.ts';
import { isSameValue } from '../../league.ts';
import { players } from '../schema.ts';

export function createPlayerRows(db: BetterSQLite3Database) {
  return {
    /** Writes the player if anything about it differs from what is stored, and says what that was. */
    upsert: (player: Player, at: string): 'added' | 'changed' | 'unchanged' => {
      const isThis = eq(players.player_id, player.player_id);
      const stored = db.select().from(players).where(isThis).get();
      if (stored === undefined) {
        const row = { ...player, first_seen_at: at, changed_at: at };
        db.insert(players).values(row).run();
        return 'added';
      }
      if (PLAYER_MEMBERS.every((field) => isSameValue(field, stored[field.name], player[field.name])))
        return 'unchanged';
      db.update(players)
        .set({ ...player, changed_at: at })
        .where(isThis)
        .run();
      return 'changed';
    },
  };
}
