import { eq } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { Sighting } from './runs.ts';
import { heldRemovals } from './schema.ts';

export type Hold = { readonly since: string; readonly accepted: boolean };

/** The removals that the guard holds. */
export type HoldRows = {
  /** Each held league, with since when, and whether an operator has accepted its removal. */
  readonly all: () => ReadonlyMap<string, Hold>;
  readonly hold: (leagueIds: readonly string[], seen: Sighting) => void;
  readonly release: (leagueIds: readonly string[]) => void;
};

export function createHoldRows(db: BetterSQLite3Database): HoldRows {
  return {
    all: () => {
      const rows = db.select().from(heldRemovals).all();
      return new Map(rows.map((row) => [row.league_id, { since: row.held_since, accepted: row.accepted_at !== null }]));
    },
    hold: (leagueIds, { runId, at }) => {
      for (const league_id of leagueIds) {
        db.insert(heldRemovals).values({ league_id, first_run_id: runId, held_since: at }).onConflictDoNothing().run();
      }
    },
    release: (leagueIds) => {
      for (const leagueId of leagueIds) db.delete(heldRemovals).where(eq(heldRemovals.league_id, leagueId)).run();
    },
  };
}
