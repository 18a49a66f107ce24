import { eq } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { isSameValue } from '../../league/feed-json.ts';
import { PLAYER_MEMBERS, type Player } from '../../league/response-schemas.ts';
import { players } from '../schema.ts';

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
