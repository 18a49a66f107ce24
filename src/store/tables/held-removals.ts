import { eq } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { heldRemovals } from '../schema.ts';
import type { Sighting } from './runs.ts';

export type Hold = {
  /** Since when the guard has been holding without a break, be it for other leagues at first. */
  readonly guardSince: string;
  readonly accepted: boolean;
};

/** The removals that the guard holds. */
export type HoldRows = {
  /** Each held league. */
  readonly all: () => ReadonlyMap<string, Hold>;
  /** Holds these from this run on. `guardSince` is earlier where the guard held others before. */
  readonly hold: (leagueIds: readonly string[], seen: Sighting, guardSince?: string) => void;
  readonly release: (leagueIds: readonly string[]) => void;
};

export function createHoldRows(db: BetterSQLite3Database): HoldRows {
  const selectAll = db.select().from(heldRemovals).prepare();
  return {
    all: () =>
      new Map(
        selectAll
          .all()
          .map(({ league_id, held_since, guard_since, accepted_at }) => [
            league_id,
            { guardSince: guard_since ?? held_since, accepted: accepted_at !== null },
          ]),
      ),
    hold: (leagueIds, { runId, at }, guardSince) => {
      for (const league_id of leagueIds) {
        const row = { league_id, first_run_id: runId, held_since: at, guard_since: guardSince };
        db.insert(heldRemovals).values(row).onConflictDoNothing().run();
      }
    },
    release: (leagueIds) => {
      for (const leagueId of leagueIds) db.delete(heldRemovals).where(eq(heldRemovals.league_id, leagueId)).run();
    },
  };
}
