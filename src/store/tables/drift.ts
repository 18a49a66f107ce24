import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { Drift } from '../../drift.ts';
import { drift } from '../schema.ts';
import type { Sighting } from './runs.ts';

export type DriftRows = {
  /** Adds the departures that have no row yet, and gives them. */
  readonly note: (departures: readonly Drift[], seen: Sighting) => readonly Drift[];
};

export function createDriftRows(db: BetterSQLite3Database): DriftRows {
  return {
    note: (departures, { runId, at }) =>
      departures.filter((departure) => {
        const row = { ...departure, first_run_id: runId, first_seen_at: at };
        return db.insert(drift).values(row).onConflictDoNothing().run().changes > 0;
      }),
  };
}
