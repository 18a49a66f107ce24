import { eq } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { PLAYER_MEMBERS, type Player } from '../../interface.ts';
import { isSameValue } from '../../league.ts';
import { players } from '../schema.ts';

export type PlayerRows = {
  /** Writes the player if anything about it differs from what is stored, and says what that was. */
  readonly upsert: (player: Player, at: string) => 'added' | 'changed' | 'unchanged';
};

export function createPlayerRows(db: BetterSQLite3Database): PlayerRows {
  return {
    upsert: (player, at) => {
      const row = db.select().from(players).where(eq(players.player_id, player.player_id)).get();
      const columns = { ...player, verified: player.verified === null ? null : Number(player.verified) };
      if (row === undefined) {
        db.insert(players)
          .values({ ...columns, first_seen_at: at, changed_at: at })
          .run();
        return 'added';
      }
      const stored: Player = { ...row, verified: row.verified === null ? null : row.verified === 1 };
      if (PLAYER_MEMBERS.every((field) => isSameValue(field, stored[field.name], player[field.name])))
        return 'unchanged';
      db.update(players)
        .set({ ...columns, changed_at: at })
        .where(eq(players.player_id, player.player_id))
        .run();
      return 'changed';
    },
  };
}
